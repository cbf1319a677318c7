/* Quantities as people write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/units.h"

static void expect(const char *text, enum dimension dimension, double expected)
{
    double value = -1;
    struct error e = {0};
    if (!units_parse(text, dimension, &value, &e))
        fail_msg("%s", e.text);
    if (fabs(value - expected) > 1e-15 * fabs(expected))
        fail_msg("'%s': got %.17g, expected %.17g", text, value, expected);
}

static void refuse(const char *text, enum dimension dimension, const char *holds)
{
    double value = -1;
    struct error e = {0};
    if (units_parse(text, dimension, &value, &e))
        fail_msg("'%s' was read as %.17g", text, value);
    assert_true(value == -1);
    assert_int_equal(e.kind, ERROR_INPUT);
    if (!strstr(e.text, holds))
        fail_msg("'%s': expected '%s' in: %s", text, holds, e.text);
    error_clear(&e);
}

static void reads_sizes(void **state)
{
    (void)state;
    expect("200 TB", DIMENSION_BYTES, 200e12);
    expect("110kB", DIMENSION_BYTES, 110e3);
    expect("2 GiB", DIMENSION_BYTES, 2147483648.0);
    expect(" 1.5  MB", DIMENSION_BYTES, 1.5e6);
    expect("1e3 B", DIMENSION_BYTES, 1000);
    expect("0", DIMENSION_BYTES, 0);
    expect("-1 GB", DIMENSION_BYTES, -1e9);
    expect(".5 KiB", DIMENSION_BYTES, 512);
}

static void tells_bits_from_bytes(void **state)
{
    (void)state;
    expect("25 Gbit/s", DIMENSION_BANDWIDTH, 3.125e9);
    expect("25 Gb/s", DIMENSION_BANDWIDTH, 3.125e9);
    expect("25 Gbps", DIMENSION_BANDWIDTH, 3.125e9);
    expect("3.1 GB/s", DIMENSION_BANDWIDTH, 3.1e9);
    expect("100 Mbit/s", DIMENSION_BANDWIDTH, 12.5e6);
    expect("1 GiB/s", DIMENSION_BANDWIDTH, 1073741824.0);
}

static void reads_times(void **state)
{
    (void)state;
    expect("10 us", DIMENSION_TIME, 10e-6);
    expect("10 \xc2\xb5s", DIMENSION_TIME, 10e-6);
    expect("10 \xce\xbcs", DIMENSION_TIME, 10e-6);
    expect("10 \xc2\xb5s", DIMENSION_TIME, 10e-6);
    expect("1.5 ms", DIMENSION_TIME, 1.5e-3);
    expect("2 h", DIMENSION_TIME, 7200);
    expect("14d", DIMENSION_TIME, 14 * 86400.0);
    expect("3 min", DIMENSION_TIME, 180);
}

static void reads_prices_by_time(void **state)
{
    (void)state;
    expect("2.5/h", DIMENSION_PRICE, 2.5 / 3600);
    expect("60 / d", DIMENSION_PRICE, 60 / 86400.0);
    refuse("2.5", DIMENSION_PRICE, "the unit is missing");
    refuse("2.5/m", DIMENSION_PRICE, "unknown unit '/m'");
}

static void refuses_what_is_no_number(void **state)
{
    (void)state;
    static const char *const text[] = {"",      "GB",    "nan GB", "inf GB", "-inf", "0x10 B",
                                       "- 1 B", "+-1 B", ".",      "--1 GB", "\xff", "1e999 B"};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        refuse(text[i], DIMENSION_BYTES, "is not a size such as \"1 GB\"");
}

static void refuses_a_number_without_a_unit(void **state)
{
    (void)state;
    refuse("5", DIMENSION_BYTES, "the unit is missing");
    refuse("5 ", DIMENSION_TIME, "the unit is missing");
}

static void refuses_unknown_units_and_names_the_nearest(void **state)
{
    (void)state;
    refuse("5 Gbits/s", DIMENSION_BANDWIDTH, "did you mean 'Gbit/s'?");
    refuse("5 TBB", DIMENSION_BYTES, "did you mean 'TB'?");
    refuse("5 GB extra words", DIMENSION_BYTES, "unknown unit 'GB extra words'");
    refuse("25G", DIMENSION_BANDWIDTH, "did you mean 'Gbit/s'?");
    refuse("100 Mb", DIMENSION_BANDWIDTH, "did you mean 'Mbit/s'?");
    refuse("1,5 GB", DIMENSION_BYTES, "unknown unit ',5 GB'");
}

static void refuses_units_of_another_dimension(void **state)
{
    (void)state;
    refuse("5 GB", DIMENSION_TIME, "unknown unit 'GB'");
    refuse("5 GB", DIMENSION_BANDWIDTH, "a rate such as \"25 Gbit/s\"");
    refuse("5 s", DIMENSION_BYTES, "unknown unit 's'");
}

static void refuses_what_is_too_large(void **state)
{
    (void)state;
    refuse("1e308 PB", DIMENSION_BYTES, "too large");
}

static void expect_text(double value, enum dimension dimension, const char *expected)
{
    char text[UNITS_TEXT_SIZE];
    assert_string_equal(units_format(value, dimension, text), expected);
}

static void writes_quantities_for_people(void **state)
{
    (void)state;
    expect_text(1.297, DIMENSION_TIME, "1.30 s");
    expect_text(0.0842, DIMENSION_TIME, "84.2 ms");
    expect_text(2e-3, DIMENSION_TIME, "2 ms");
    expect_text(0, DIMENSION_TIME, "0 s");
    expect_text(3.125e9, DIMENSION_BANDWIDTH, "25 Gbit/s");
    expect_text(200e12, DIMENSION_BYTES, "200 TB");
    expect_text(999, DIMENSION_BYTES, "999 B");
    expect_text(2.5 / 3600, DIMENSION_PRICE, "2.5/h");
    expect_text(-40e9 / 8, DIMENSION_BANDWIDTH, "-40 Gbit/s");
}

static void rounding_does_not_leave_the_unit(void **state)
{
    (void)state;
    expect_text(0.99999, DIMENSION_TIME, "1.00 s");
    expect_text(999.9e6, DIMENSION_BYTES, "1.00 GB");
    expect_text(9.9999, DIMENSION_TIME, "10.0 s");
}

static void writes_long_times_in_days(void **state)
{
    (void)state;
    char text[UNITS_TEXT_SIZE];
    assert_string_equal(units_format_duration(12 * 86400 + 4 * 3600 + 7 * 60 + 31, text),
                        "12d 4h 07m 31s");
    assert_string_equal(units_format_duration(3661, text), "1h 01m 01s");
    assert_string_equal(units_format_duration(59.9, text), "1m 00s");
    assert_string_equal(units_format_duration(1.3, text), "1.30 s");
    assert_string_equal(units_format_duration(86399.7, text), "1d 0h 00m 00s");
    assert_true(strlen(units_format_duration(1e300, text)) < UNITS_TEXT_SIZE);
}

static void writes_counts_with_separators(void **state)
{
    (void)state;
    char text[UNITS_TEXT_SIZE];
    assert_string_equal(units_format_count(15625, text), "15,625");
    assert_string_equal(units_format_count(0, text), "0");
    assert_string_equal(units_format_count(999, text), "999");
    assert_string_equal(units_format_count(-1234567, text), "-1,234,567");
    assert_string_equal(units_format_count(1e20, text), "1e+20");
}

int main(void)
{
    static const struct CMUnitTest test[] = {
        cmocka_unit_test(reads_sizes),
        cmocka_unit_test(tells_bits_from_bytes),
        cmocka_unit_test(reads_times),
        cmocka_unit_test(reads_prices_by_time),
        cmocka_unit_test(refuses_what_is_no_number),
        cmocka_unit_test(refuses_a_number_without_a_unit),
        cmocka_unit_test(refuses_unknown_units_and_names_the_nearest),
        cmocka_unit_test(refuses_units_of_another_dimension),
        cmocka_unit_test(refuses_what_is_too_large),
        cmocka_unit_test(writes_quantities_for_people),
        cmocka_unit_test(rounding_does_not_leave_the_unit),
        cmocka_unit_test(writes_long_times_in_days),
        cmocka_unit_test(writes_counts_with_separators),
    };
    return cmocka_run_group_tests_name("units", test, NULL, NULL);
}
