/*
 * The same events read with simdjson's On-Demand, from a file loaded as a whole:
 * `bench_trace_simdjson FILE`. Also says how long loading and parsing took. Built for the machine's
 * own processor, as On-Demand picks its vector code when it is compiled.
 */
#include <chrono>
#include <cstdio>
#include <string_view>

#include <simdjson.h>

#include "trace_sums.h"

using namespace simdjson;

/* Microseconds with three decimals or none, as integers: a double would lose some. */
static uint64_t nanoseconds(std::string_view token)
{
    uint64_t ns = 0;
    int decimals = -1;
    for (char c : token) {
        if (c == '.')
            decimals = 0;
        else if (c < '0' || c > '9')
            break;
        else {
            ns = 10 * ns + static_cast<uint64_t>(c - '0');
            decimals += decimals >= 0;
        }
    }
    for (decimals = decimals < 0 ? 0 : decimals; decimals < 3; decimals++)
        ns *= 10;
    return ns;
}

static void add_args(trace_sums &sums, ondemand::object args)
{
    for (auto field : args) {
        ondemand::raw_json_string key = field.key();
        if (key == "External id" || key == "correlation" || key == "stream")
            sums.args += static_cast<uint64_t>(int64_t(field.value()));
    }
}

static void add_event(trace_sums &sums, ondemand::object event)
{
    sums.n_events++;
    for (auto field : event) {
        ondemand::raw_json_string key = field.key();
        if (key == "name" || key == "cat")
            sums.text_bytes += std::string_view(field.value()).size();
        else if (key == "ts")
            sums.start_ns += nanoseconds(field.value().raw_json_token());
        else if (key == "dur")
            sums.duration_ns += nanoseconds(field.value().raw_json_token());
        else if (key == "args")
            add_args(sums, field.value());
    }
}

static double seconds_since(std::chrono::steady_clock::time_point start)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    try {
        trace_sums sums = {};
        auto start = std::chrono::steady_clock::now();
        padded_string text = padded_string::load(argv[1]);
        double load_s = seconds_since(start);
        start = std::chrono::steady_clock::now();
        ondemand::parser parser;
        ondemand::document document = parser.iterate(text);
        for (ondemand::object event : document["traceEvents"])
            add_event(sums, event);
        double parse_s = seconds_since(start);
        trace_sums_print(&sums);
        std::fprintf(stderr, "load %.3f s, parse %.3f s\n", load_s, parse_s);
    } catch (const simdjson_error &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    return 0;
}
