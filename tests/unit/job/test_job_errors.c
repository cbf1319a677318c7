/* What a job file is refused for: each case is a file, the place, and the words that must be there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "job/job.h"

#define SOUND "devices: {a: {count: 4, batch: 8}, b: {count: 4, batch: 8}}\n"
#define HOSTS(list) "devices: {a: {count: 2, batch: 8, allow_full: true, hosts: " list "}}\n"
#define RING(list) "devices: {a: {count: 3, batch: 8, hosts: 'h1:2, h2'}}\nring: " list "\n"
#define LAYERS(rest) "devices: {a: {count: 4, batch: 8}}\nmodel:\n  " rest

struct refusal {
    const char *name;
    const char *yaml;
    const char *starts; /* line:column: message */
    const char *holds;  /* anywhere, such as a hint; or NULL */
};

static const struct refusal refusal[] = {
    /* YAML itself */
    {"refuses_an_empty_file", "", "the file is empty", "foretrain init"},
    {"refuses_a_file_of_comments", "# nothing\n", "the file is empty", NULL},
    {"refuses_a_list_as_a_job", "- 1\n", "1:1: job file must be a mapping", "got a list"},
    {"refuses_tabs_as_indentation", "devices:\n\ta: 1\n", "2:1: not YAML", "spaces, not tabs"},
    {"refuses_an_open_bracket", "data: [1, 2\n", "2:1: not YAML", "ends with ']'"},
    {"refuses_broken_utf8", "name: a\nmodel: \xff\n", "2:8: not UTF-8 text", "UTF-8"},
    {"refuses_control_characters", "name: \x1b[31m\n", "1:7: control character 0x1b", NULL},
    {"refuses_a_zero_byte_in_text", "name: \"a\\0b\"\n", "1:7: text must not contain a zero", NULL},
    {"refuses_anchors", "name: &x job\n", "1:7: anchors (&name) are not read", NULL},
    {"refuses_aliases", "name: *x\n", "1:7: aliases (*name) are not read", NULL},
    {"refuses_tags", "name: !!str job\n", "1:7: tags (!name) are not read", NULL},
    {"refuses_merge_keys", "<<: {a: 1}\n", "1:1: merge keys (<<) are not read", NULL},
    {"refuses_a_second_document", SOUND "---\nname: x\n", "2:1: a second YAML document", NULL},
    {"refuses_a_list_as_a_key", "[a]: 1\n", "1:1: a key must be a word", NULL},
    {"refuses_deep_nesting", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
     "1:33: nested too deeply", NULL},
    {"refuses_a_key_given_twice", SOUND "name: a\nname: b\n", "3:1: key 'name' is given twice",
     "first in line 2"},
    {"refuses_a_batch_listed_twice", "devices: {a: {count: 4, batch: 8, batches: [8, 16, 8]}}\n",
     "1:52: batch 8 is listed twice", NULL},
    {"refuses_batches_that_are_no_list", "devices: {a: {count: 4, batch: 8, batches: 8}}\n",
     "1:44: batches must be a list of mini-batches, 1 to 100 (got 8)", NULL},
    {"refuses_batches_beside_a_profile",
     "devices: {a: {count: 4, batch: 8, batches: [8], profile: x}}\n",
     "1:44: batches are what is measured, and a profile is given instead", NULL},
    {"refuses_batches_in_one_ring",
     "devices: {a: {count: 4, batch: 8, batches: [8, 4]}}\nsubsystems: together\n"
     "one_ring: true\n",
     "3:11: one_ring has no room for the batches of 'a'", NULL},
    {"refuses_no_profile_in_a_list", "devices: {a: {count: 4, batch: 8, profile: []}}\n",
     "1:44: profile must be a file, or files of different batches", NULL},
    {"refuses_a_device_type_given_twice",
     "devices: {a: {count: 4, batch: 8}, a: {count: 4, batch: 8}}\n",
     "1:36: key 'a' is given twice", NULL},

    /* keys and words */
    {"names_the_nearest_key", SOUND "trainig: {}\n", "2:1: unknown key 'trainig'",
     "did you mean 'training'?"},
    {"lists_the_keys_where_none_is_near", SOUND "xyzzy: 1\n", "2:1: unknown key 'xyzzy'",
     "known here: name, model"},
    {"refuses_a_key_without_a_value", SOUND "name:\n", "2:6: name must be text (got nothing)",
     NULL},
    {"refuses_a_section_of_the_wrong_form", SOUND "data: 5\n", "2:7: data must be a mapping",
     "(got 5)"},
    {"refuses_yes_as_a_boolean", SOUND "one_ring: yes\n",
     "2:11: one_ring must be true or false (got yes)", NULL},
    {"refuses_a_boolean_in_quotes", SOUND "one_ring: \"true\"\n",
     "2:11: one_ring must be true or false (got \"true\")", NULL},

    /* name */
    {"refuses_a_name_with_a_slash", SOUND "name: a/b\n", "2:7: name must be usable as a folder's",
     "(got a/b)"},
    {"refuses_a_name_that_climbs", SOUND "name: ..\n", "2:7: name must be usable", NULL},
    {"refuses_a_name_like_an_option", SOUND "name: -rf\n", "2:7: name must be usable", NULL},
    {"shows_escapes_in_a_name_safely", SOUND "name: \"a\\e[31m\"\n", "2:7: name must be one line",
     "\\x1b"},

    /* data and training */
    {"refuses_a_size_without_a_unit", SOUND "data: {size: 200}\n",
     "2:14: size: the unit is missing", NULL},
    {"names_the_nearest_unit", SOUND "data: {size: 200 TX}\n", "2:14: size: unknown unit 'TX'",
     "did you mean 'TB'?"},
    {"suggests_samples_for_a_size_in_samples", SOUND "data: {size: 9 samples}\n",
     "2:14: size must be a size", "a key of its own: samples"},
    {"refuses_a_seed_beyond_64_bits", SOUND "data: {seed: 18446744073709551616}\n",
     "2:14: seed must be at most 18446744073709551615", NULL},
    {"asks_to_take_quotes_off_a_count", "devices: {a: {count: \"4\", batch: 8}}\n",
     "1:22: count must be a whole number", "write it without quotes"},
    {"refuses_a_size_of_zero", SOUND "data: {size: 0 B}\n", "2:14: size must be above 0", NULL},
    {"refuses_a_negative_sample_size", SOUND "data: {sample_size: -1 kB}\n",
     "2:21: sample_size must be above 0 (got -1 kB)", NULL},
    {"refuses_nan_as_a_size", SOUND "data: {size: .nan}\n", "2:14: size: '.nan' is not a size",
     NULL},
    {"refuses_an_infinite_size", SOUND "data: {size: inf GB}\n", "2:14: size: 'inf GB' is not",
     NULL},
    {"refuses_a_size_beyond_all_numbers", SOUND "data: {size: 1e308 PB}\n",
     "2:14: size: ", "too large"},
    {"refuses_no_samples", SOUND "data: {samples: 0}\n",
     "2:17: samples must be a whole number, 1 or more (got 0)", NULL},
    {"refuses_sizes_that_disagree", SOUND "data: {size: 1 GB, samples: 10, sample_size: 1 kB}\n",
     "2:29: samples times sample_size is 10 kB, but size is 1 GB", NULL},
    {"refuses_a_folder_and_a_list", SOUND "data: {path: x, list: y}\n",
     "2:23: data has both 'path' and 'list'", NULL},
    {"refuses_an_unknown_cache", SOUND "data: {cache: hot}\n", "2:15: cache must be cold or warm",
     NULL},
    {"refuses_no_epochs", SOUND "training: {epochs: 0}\n", "2:20: epochs must be a whole number",
     NULL},
    {"refuses_half_an_epoch", SOUND "training: {epochs: 0.5}\n",
     "2:20: epochs must be a whole number, 1 or more (got 0.5)", NULL},
    {"refuses_a_window_that_ends_before_it_begins", SOUND "training: {iterations: [100, 20]}\n",
     "2:24: iterations: the first counted iteration (100) is after the last (20)", NULL},
    {"refuses_a_window_from_0", SOUND "training: {iterations: [0, 20]}\n",
     "2:25: iterations must be a whole number, 1 or more (got 0)", NULL},
    {"refuses_a_window_of_one_number", SOUND "training: {iterations: 20}\n",
     "2:24: iterations must be the first and the last", "[20, 100]"},
    {"refuses_an_unknown_collective", SOUND "training: {collective: rings}\n",
     "2:24: collective must be ring, tree, hierarchical, halving-doubling, parameter-server or "
     "bridge (got rings)",
     "did you mean 'ring'?"},

    /* device types */
    {"refuses_a_job_without_devices", "name: x\n", "1:1: 'devices' is missing", NULL},
    {"refuses_no_device_types", "devices: {}\n", "1:10: devices must be a mapping of device types",
     "got none"},
    {"refuses_a_type_that_is_no_mapping", "devices: {a: 4}\n", "1:14: a must be a mapping", NULL},
    {"refuses_a_type_named_like_a_path", "devices: {../a: {count: 4, batch: 8}}\n",
     "1:11: the name of a device type must be usable", NULL},
    {"refuses_a_type_without_a_count", "devices: {a: {batch: 8}}\n",
     "1:11: 'count' is missing in a", NULL},
    {"refuses_a_type_without_a_batch", "devices: {a: {count: 8}}\n",
     "1:11: 'batch' is missing in a", NULL},
    {"refuses_a_count_of_0", "devices: {a: {count: 0, batch: 8}}\n",
     "1:22: count must be a whole number, 1 or more (got 0)", "in device type 'a'"},
    {"refuses_a_negative_count", "devices: {a: {count: -3, batch: 8}}\n",
     "1:22: count must be a whole number, 1 or more (got -3)", NULL},
    {"refuses_a_count_with_an_exponent", "devices: {a: {count: 1e6, batch: 8}}\n",
     "1:22: count must be a whole number", NULL},
    {"refuses_a_count_with_underscores", "devices: {a: {count: 1_000, batch: 8}}\n",
     "1:22: count must be a whole number", NULL},
    {"refuses_more_than_10_million_devices", "devices: {a: {count: 10000001, batch: 8}}\n",
     "1:22: count must be at most 10000000 (got 10000001)", NULL},
    {"refuses_more_than_10_million_devices_together",
     "devices: {a: {count: 9000000, batch: 8}, b: {count: 9000000, batch: 8}}\n",
     "1:11: the device types have 18000000 devices together", NULL},
    {"refuses_a_batch_of_0", "devices: {a: {count: 4, batch: 0}}\n",
     "1:32: batch must be a whole number, 1 or more (got 0)", NULL},
    {"refuses_data_without_a_unit", "devices: {a: {count: 4, batch: 8, data: 5}}\n",
     "1:41: data: the unit is missing", "20000 samples"},
    {"refuses_no_samples_of_data", "devices: {a: {count: 4, batch: 8, data: 0 samples}}\n",
     "1:41: data must be a whole number of samples, 1 or more", NULL},
    {"refuses_more_bytes_for_a_device_than_there_are",
     "data: {size: 1 GB}\ndevices: {a: {count: 4, batch: 8, data: 2 GB}}\n",
     "2:41: the data of one device (2 GB) is larger than the training set (1 GB)",
     "in device type 'a'"},
    {"refuses_more_samples_for_a_device_than_there_are",
     "data: {samples: 10000}\ndevices: {a: {count: 4, batch: 8, data: 20000 samples}}\n",
     "2:41: the data of one device (20,000 samples) is larger than the training set (10,000 "
     "samples)",
     NULL},
    {"compares_samples_and_bytes_by_the_sample_size",
     "data: {size: 1 MB, sample_size: 1 kB}\n"
     "devices: {a: {count: 4, batch: 8, data: 1001 samples}}\n",
     "2:41: the data of one device (1,001 samples) is larger than the training set (1,000 samples)",
     NULL},
    {"refuses_data_for_some_types_only",
     "devices: {a: {count: 4, batch: 8, data: 1 GB}, b: {count: 4, batch: 8}}\n",
     "1:48: device type 'b' has no 'data', but 'a' has", NULL},
    {"refuses_an_unknown_device", "devices: {a: {count: 4, batch: 8, device: cudo}}\n",
     "1:43: device must be cpu, cuda, hip, mlu, npu or xpu (got cudo)", "did you mean 'cuda'?"},
    {"refuses_an_unknown_backend", "devices: {a: {count: 4, batch: 8, backend: gloom}}\n",
     "1:44: backend must be gloo, nccl", "did you mean 'gloo'?"},
    {"refuses_a_backend_of_another_device",
     "devices: {a: {count: 4, batch: 8, device: mlu, backend: nccl}}\n",
     "1:57: backend nccl works with device cuda only (got device mlu)", NULL},
    {"refuses_a_variable_that_is_no_name", "devices: {a: {count: 4, batch: 8, env: {A-B: 1}}}\n",
     "1:41: 'A-B' is not the name of an environment variable", NULL},
    {"refuses_variables_that_foretrain_sets",
     "devices: {a: {count: 4, batch: 8, env: {RANK: 1}}}\n",
     "1:41: 'RANK' is set by foretrain itself", NULL},
    {"refuses_an_empty_variable", "devices: {a: {count: 4, batch: 8, env: {A: }}}\n",
     "1:44: A must be text (got nothing)", "\"\" is the empty text"},
    {"refuses_an_option_as_python", "devices: {a: {count: 4, batch: 8, python: -c}}\n",
     "1:43: python must be a program", NULL},
    {"refuses_cpus_that_are_no_numbers", "devices: {a: {count: 4, batch: 8, cpus: [0, 'x']}}\n",
     "1:41: cpus must be CPU numbers", "(got x)"},
    {"refuses_a_cpu_range_that_goes_down", "devices: {a: {count: 4, batch: 8, cpus: 3-2}}\n",
     "1:41: cpus must be CPU numbers", NULL},

    /* sub-systems */
    {"refuses_a_subsystem_of_one", "devices: {a: {count: 4, batch: 8, subsystem: 1}}\n",
     "1:46: a sub-system has at least 2 devices (got 1)", "count of 1"},
    {"refuses_a_subsystem_of_none", "devices: {a: {count: 4, batch: 8, subsystem: 0}}\n",
     "1:46: subsystem must be a whole number, 1 or more (got 0)", NULL},
    {"refuses_a_subsystem_as_large_as_the_type",
     "devices: {a: {count: 4, batch: 8, subsystem: 4}}\n",
     "1:46: a sub-system of 4 devices is not smaller than the type's count of 4",
     "allow_full: true"},
    {"refuses_the_default_subsystem_of_a_type_of_two", "devices: {a: {count: 2, batch: 8}}\n",
     "1:11: a sub-system of 2 devices is not smaller than the type's count of 2",
     "allow_full: true"},
    {"refuses_the_default_subsystem_of_a_single_device", "devices: {a: {count: 1, batch: 8}}\n",
     "1:11: a sub-system of 2 devices is larger than the type's count of 1",
     "subsystem: 1 measures computing only"},
    {"refuses_a_subsystem_larger_than_the_type_even_when_full_is_allowed",
     "devices: {a: {count: 4, batch: 8, subsystem: 5, allow_full: true}}\n",
     "1:46: a sub-system of 5 devices is larger than the type's count of 4", NULL},
    {"refuses_a_full_subsystem_on_the_systems_own_hosts",
     "devices: {a: {count: 2, batch: 8, hosts: 'h1,h2', subsystem: {hosts: 'h2,h1'}}}\n",
     "1:62: a sub-system of 2 devices is not smaller", NULL},
    {"refuses_subsystem_hosts_with_too_few_slots",
     "devices: {a: {count: 4, batch: 8, subsystem: {devices: 3, hosts: 'x:2'}}}\n",
     "1:46: the sub-system's hosts have slots for 2, 1 less than its 3 devices", "host:2"},
    {"refuses_a_subsystem_host_listed_twice",
     "devices: {a: {count: 4, batch: 8, subsystem: {hosts: 'x, x'}}}\n",
     "1:46: host 'x' is listed twice in the sub-system", "write 'x:2'"},

    /* hosts */
    {"refuses_fewer_slots_than_devices", "devices: {a: {count: 4, batch: 8, hosts: 'n[1-3]'}}\n",
     "1:42: hosts have slots for 3, 1 less than the count of 4", "subsystem: {hosts: ...}"},
    {"refuses_a_host_listed_twice", HOSTS("'h1, h1'"),
     "1:60: host 'h1' is listed twice in device type 'a'", "write 'h1:2'"},
    {"refuses_a_range_that_goes_down", HOSTS("'a[5-1]'"), "1:63: hosts: the range goes down",
     "(in 'a[5-1]')"},
    {"refuses_a_range_of_letters", HOSTS("'a[a-b]'"), "1:63: hosts: expected a number or a range",
     NULL},
    {"refuses_an_empty_range", HOSTS("'a[]'"), "1:63: hosts: expected a number or a range", NULL},
    {"refuses_an_open_range", HOSTS("'a[1-2'"), "1:66: hosts: expected ',' or ']'", NULL},
    {"refuses_a_closing_bracket_alone", HOSTS("'a1]'"), "1:63: hosts: ']' without '['", NULL},
    {"refuses_nested_brackets", HOSTS("'a[[1]]'"), "1:63: hosts: expected a number", NULL},
    {"refuses_too_many_hosts", HOSTS("'a[0-9999][0-9999]'"), "1:61: hosts: more than 2 million",
     NULL},
    {"refuses_a_range_too_large_to_write_out", HOSTS("'a[0-999999999]'"),
     "1:63: hosts: more than 2 million", NULL},
    {"refuses_a_host_like_an_option", HOSTS("'-oProxyCommand'"),
     "1:61: hosts: a host's name must not start with '-'", NULL},
    {"refuses_a_host_with_shell_characters", HOSTS("'h1, a;b'"),
     "1:65: hosts: a host's name has letters, digits", NULL},
    {"refuses_a_host_with_a_space", HOSTS("'a b'"), "1:61: hosts: a host's name has", NULL},
    {"refuses_a_host_without_devices", HOSTS("'a:0'"), "1:62: hosts: expected a number of devices",
     NULL},
    {"refuses_a_missing_host", HOSTS("'a,,b'"), "1:63: hosts: a name is missing", NULL},
    {"refuses_an_empty_list_of_hosts", HOSTS("[]"), "1:60: hosts is an empty list", NULL},

    /* the network */
    {"names_the_nearest_device_type",
     "devices: {mlu370: {count: 4, batch: 8}}\n"
     "network: {links: [{between: [mlu370, mlu730], bandwidth: 1 GB/s}]}\n",
     "2:38: between: no device type is called 'mlu730'", "did you mean 'mlu370'?"},
    {"refuses_a_link_between_three_types",
     SOUND "network: {links: [{between: [a, b, a], bandwidth: 1 GB/s}]}\n",
     "2:29: between must be two device types", NULL},
    {"refuses_between_beside_from",
     SOUND "network: {links: [{between: [a, b], from: a, bandwidth: 1 GB/s}]}\n",
     "2:29: a link has either 'between'", NULL},
    {"refuses_a_link_without_ends", SOUND "network: {links: [{bandwidth: 1 GB/s}]}\n",
     "2:19: a link needs 'between: [a, b]'", NULL},
    {"refuses_less_both_ways_than_one_way",
     SOUND "network: {links: [{between: [a, b], bandwidth: 2 GB/s, both_ways: 1 GB/s}]}\n",
     "2:67: both_ways must be at least the bandwidth of one way", "(got 1 GB/s)"},
    {"refuses_both_ways_of_one_direction",
     SOUND "network: {links: [{from: a, to: b, bandwidth: 1 GB/s, both_ways: 1 GB/s}]}\n",
     "2:66: both_ways is for links 'between' two types", NULL},
    {"refuses_a_spread_of_all",
     SOUND "network: {links: [{between: [a, b], bandwidth: 1 GB/s, spread: 100 %}]}\n",
     "2:64: spread must be from 0 to below 100 %", "(got 100 %)"},
    {"refuses_a_spread_without_its_unit",
     SOUND "network: {links: [{between: [a, b], bandwidth: 1 GB/s, spread: 0.1}]}\n",
     "2:64: spread: the unit is missing; expected a share such as \"10 %\"", NULL},
    {"refuses_a_link_without_bandwidth", SOUND "network: {links: [{between: [a, b]}]}\n",
     "2:19: 'bandwidth' is missing in links", "or give nccl_tests: FILE"},
    {"refuses_a_bandwidth_beside_a_table",
     SOUND "network: {links: [{between: [a, b], bandwidth: 1 GB/s, nccl_tests: t.txt}]}\n",
     "2:68: a link has either 'bandwidth' and 'latency', or 'nccl_tests'", NULL},
    {"refuses_a_class_that_nvidia_smi_does_not_have",
     SOUND "network: {topology: {file: t.txt, classes: {PXI: 1 GB/s}}}\n",
     "2:45: 'PXI' is no class of nvidia-smi topo -m", "did you mean 'PIX'?"},
    {"refuses_a_topology_without_classes", SOUND "network: {topology: {file: t.txt}}\n",
     "2:11: 'classes' is missing in topology", NULL},
    {"refuses_classes_without_a_bandwidth",
     SOUND "network: {topology: {file: t.txt, classes: {PIX: {latency: 1 us}}}}\n",
     "2:45: 'bandwidth' is missing in PIX", NULL},
    {"refuses_two_topologies_of_all_types",
     SOUND "network: {topology: [{file: t.txt, classes: {PIX: 1 GB/s}}, {file: u.txt, classes: "
           "{PIX: 1 GB/s}}]}\n",
     "2:61: the topology of all types is given twice (first in line 2)", "type: NAME"},
    {"refuses_a_topology_of_an_unknown_type",
     SOUND "network: {topology: {file: t.txt, type: c, classes: {PIX: 1 GB/s}}}\n",
     "2:41: type: no device type is called 'c'", NULL},
    {"refuses_a_negative_bandwidth",
     SOUND "network: {links: [{between: [a, b], bandwidth: -40 Gbit/s}]}\n",
     "2:48: bandwidth must be above 0 (got -40 Gbit/s)", NULL},
    {"refuses_a_bandwidth_of_0", SOUND "network: {links: [{between: [a, b], bandwidth: 0}]}\n",
     "2:48: bandwidth must be above 0 (got 0)", NULL},
    {"refuses_nan_as_bandwidth",
     SOUND "network: {links: [{between: [a, b], bandwidth: nan Gbit/s}]}\n",
     "2:48: bandwidth: 'nan Gbit/s' is not a rate", NULL},
    {"refuses_a_negative_latency",
     SOUND "network: {links: [{between: [a, b], bandwidth: 1 GB/s, latency: -1 us}]}\n",
     "2:65: latency must be 0 or more (got -1 us)", NULL},
    {"refuses_a_class_given_twice",
     SOUND "network:\n  links:\n  - {between: [a, b], bandwidth: 1 GB/s}\n"
           "  - {between: [b, a], bandwidth: 2 GB/s}\n",
     "5:5: this class of links is given twice (first in line 4)", NULL},

    /* the ring */
    {"says_how_to_find_the_best_ring", SOUND "ring: optimal\n",
     "2:7: ring: the best order is looked for once", "foretrain order -o FILE"},
    {"refuses_an_unknown_order", SOUND "ring: as_listed\n", "2:7: ring must be as-listed",
     "did you mean 'as-listed'?"},
    {"refuses_an_unknown_device_in_the_ring", RING("[h1, h3]"),
     "2:12: ring: no device is called 'h3'", "did you mean 'h2'?"},
    {"refuses_a_missing_device", RING("[h1:0, h2]"), "2:7: ring: device 'h1:1' is missing", NULL},
    {"counts_missing_devices", RING("[h1:1]"),
     "2:7: ring: 2 devices are missing, the first is 'h1:0'", NULL},
    {"refuses_a_repeated_device", RING("[h1:0, h1:1, h2, h1:0]"),
     "2:24: ring: device 'h1:0' is listed twice", NULL},
    {"refuses_a_host_beside_its_own_device", RING("[h1, h1:1, h2]"),
     "2:12: ring: device 'h1:1' is listed twice", NULL},
    {"refuses_a_slot_that_is_not_there", RING("[h1:2, h2]"),
     "2:8: ring: no device is called 'h1:2'", NULL},
    {"refuses_an_index_that_is_not_there",
     "devices: {a: {count: 3, batch: 8}}\nring: ['a-[1-3]']\n",
     "2:8: ring: no device is called 'a-3'", NULL},
    {"refuses_an_empty_ring", RING("[]"), "2:7: ring: 3 devices are missing", NULL},

    /* sub-systems together, launcher */
    {"refuses_an_unknown_way_of_subsystems", SOUND "subsystems: both\n",
     "2:13: subsystems must be each or together (got both)", NULL},
    {"refuses_one_ring_of_separate_subsystems", SOUND "one_ring: true\n",
     "2:11: one_ring joins sub-systems that train together", "subsystems: together"},
    {"refuses_an_option_as_a_user", SOUND "launcher: {kind: ssh, user: -oProxyCommand=x}\n",
     "2:29: user must not begin with '-' (got -oProxyCommand=x)", NULL},
    {"refuses_a_user_for_this_machine", SOUND "launcher: {kind: local, user: train}\n",
     "2:31: 'user' is for launcher ssh", "write kind: ssh"},
    {"refuses_a_user_for_slurm", SOUND "launcher: {kind: slurm, user: train}\n",
     "2:31: 'user' is for launcher ssh", NULL},
    {"refuses_a_partition_for_ssh", SOUND "launcher: {kind: ssh, partition: gpu}\n",
     "2:34: 'partition' is for launcher slurm", "write kind: slurm"},
    {"refuses_an_option_as_a_partition", SOUND "launcher: {kind: slurm, partition: --uid=0}\n",
     "2:36: partition must not begin with '-' (got --uid=0)", NULL},
    {"names_the_nearest_key_of_slurm", SOUND "launcher: {kind: slurm, acount: x}\n",
     "2:25: ", "did you mean 'account'?"},
    {"refuses_a_queue_timeout_of_0", SOUND "launcher: {kind: slurm, queue_timeout: 0 s}\n",
     "2:40: queue_timeout must be above 0 (got 0 s)", NULL},
    {"refuses_slurm_settings_of_a_type_without_slurm",
     "devices: {a: {count: 4, batch: 8, slurm: {partition: x}}}\nlauncher: ssh\n",
     "1:42: 'slurm' is for launcher slurm", "in device type 'a'"},
    {"names_the_nearest_key_of_a_types_slurm",
     "devices: {a: {count: 4, batch: 8, slurm: {constrain: x}}}\nlauncher: slurm\n",
     "1:43: ", "did you mean 'constraint'?"},
    {"refuses_a_wrong_word_for_shared", SOUND "launcher: {kind: ssh, shared: maybe}\n",
     "2:31: shared", "auto, true or false"},
    {"refuses_a_timeout_of_0", SOUND "launcher: {kind: local, timeout: 0 s}\n",
     "2:34: timeout must be above 0 (got 0 s)", NULL},

    /* models */
    {"refuses_a_model_without_a_form", SOUND "model: {args: []}\n",
     "2:8: model must be a mapping with 'script', 'command', 'entry' or 'layers'", "none of them"},
    {"refuses_a_script_and_an_entry", SOUND "model: {script: a.py, entry: 'b.py:c'}\n",
     "2:23: model has both 'script' and 'entry'", NULL},
    {"refuses_a_loss_beside_a_script", SOUND "model: {script: a.py, loss: mse}\n",
     "2:23: 'loss' belongs to a model with 'layers', not 'script'", NULL},
    {"refuses_script_arguments_in_one_text", SOUND "model: {script: a.py, args: '--a 1'}\n",
     "2:29: args of a script must be a list of texts", "--batch-size"},
    {"refuses_a_placeholder_that_is_nearly_one",
     SOUND "model: {script: a.py, args: ['--b={bacth}']}\n",
     "2:30: args: unknown placeholder {bacth}", "did you mean {batch}?"},
    {"refuses_a_rank_for_a_script_that_starts_its_own",
     SOUND "model: {script: a.py, spawns_ranks: true, args: ['--r={rank}']}\n",
     "2:50: {rank} has no value where the script starts its own ranks", NULL},
    {"refuses_a_command_that_is_a_text", SOUND "model: {command: python3 a.py}\n",
     "2:18: command must be a list of a program and its arguments", "write command: ["},
    {"refuses_a_command_that_begins_with_an_option", SOUND "model: {command: [--x, a]}\n",
     "2:19: command begins with the program (got --x)", NULL},
    {"refuses_an_empty_command", SOUND "model: {command: []}\n", "2:18: command must be a list",
     NULL},
    {"refuses_arguments_beside_a_command", SOUND "model: {command: [a], args: [b]}\n",
     "2:23: 'args' belongs to a model with 'script', not 'command'", NULL},
    {"refuses_a_record_for_a_script", SOUND "model: {script: a.py, args: ['{record}']}\n",
     "2:30: {record} has no value where the worker writes the record", NULL},
    {"refuses_commands_that_wait_for_each_other",
     SOUND "model: {command: [a]}\nsubsystems: together\n",
     "3:13: the sub-systems of a 'command' cannot wait for each other", "one_ring: true"},
    {"refuses_an_entry_without_a_function", SOUND "model: {entry: model.py}\n",
     "2:16: entry must be FILE:FUNCTION", "model.py:build"},
    {"refuses_entry_arguments_in_a_list", SOUND "model: {entry: 'm.py:f', args: [1]}\n",
     "2:32: args of an entry must be a mapping", NULL},
    {"refuses_an_entry_argument_that_is_not_finite",
     SOUND "model: {entry: 'm.py:f', args: {lr: .inf}}\n",
     "2:37: lr: the number .inf is not finite", NULL},
    {"refuses_an_entry_argument_beyond_64_bits",
     SOUND "model: {entry: 'm.py:f', args: {n: 99999999999999999999}}\n",
     "2:36: n: the number 99999999999999999999 is too large", NULL},
    {"names_the_nearest_kind_of_layer",
     LAYERS("{input: [3], layers: [{kind: linaer, out: 1}], loss: mse, optimizer: sgd}"),
     "3:32: unknown kind 'linaer'", "did you mean 'linear'?"},
    {"names_the_nearest_activation",
     LAYERS("{input: [3], layers: [{kind: linear, out: 1, activation: gelo}], loss: mse, "
            "optimizer: sgd}"),
     "3:60: unknown activation 'gelo'", "did you mean 'gelu'?"},
    {"refuses_an_unknown_key_of_a_layer",
     LAYERS("{input: [3], layers: [{kind: linear, out: 1, biass: true}], loss: mse, optimizer: "
            "sgd}"),
     "3:48: unknown key 'biass' of linear", "did you mean 'bias'?"},
    {"refuses_a_layer_without_its_size",
     LAYERS("{input: [3], layers: [{kind: linear}], loss: mse, optimizer: sgd}"),
     "3:25: 'out' of linear is missing", NULL},
    {"refuses_a_layer_of_size_0",
     LAYERS("{input: [3], layers: [{kind: linear, out: 0}], loss: mse, optimizer: sgd}"),
     "3:45: out must be a whole number, 1 or more (got 0)", NULL},
    {"refuses_keys_of_an_activation_as_a_layer",
     LAYERS("{input: [3], layers: [{kind: relu, out: 1}], loss: mse, optimizer: sgd}"),
     "3:38: unknown key 'out' of relu", NULL},
    {"names_the_nearest_loss",
     LAYERS("{input: [3], layers: [{kind: relu}], loss: crossentropy, optimizer: sgd}"),
     "3:46: unknown loss 'crossentropy'", "did you mean 'cross_entropy'?"},
    {"names_the_nearest_optimizer",
     LAYERS("{input: [3], layers: [{kind: relu}], loss: mse, optimizer: {kind: adamx}}"),
     "3:69: unknown kind 'adamx'", "did you mean 'adam'?"},
    {"refuses_layers_without_an_input",
     LAYERS("{layers: [{kind: relu}], loss: mse, optimizer: sgd}"),
     "3:4: 'input' is missing in a model made of layers", NULL},
    {"refuses_an_input_that_is_no_shape",
     LAYERS("{input: big, layers: [{kind: relu}], loss: mse, optimizer: sgd}"),
     "3:11: input must be the shape of one sample", "[3, 32, 32]"},
    {"refuses_no_layers", LAYERS("{input: [3], layers: [], loss: mse, optimizer: sgd}"),
     "3:24: layers must be a list of layers", NULL},
};
enum { N_REFUSALS = sizeof refusal / sizeof *refusal };

static void check_refusal(void **state)
{
    const struct refusal *c = *state;
    struct arena arena = {0};
    struct error e = {0};
    struct job job = {.n_types = 77};
    assert_false(job_parse(&arena, c->yaml, strlen(c->yaml), "lab.yaml", ".", &job, &e));
    assert_int_equal(e.kind, ERROR_INPUT);
    const char *after_file = strstr(e.text, "lab.yaml:");
    assert_ptr_equal(after_file, e.text);
    after_file += strlen("lab.yaml:") + (e.text[strlen("lab.yaml:")] == ' ');
    if (strncmp(after_file, c->starts, strlen(c->starts)) != 0)
        fail_msg("expected to start with '%s', got:\n%s", c->starts, e.text);
    if (c->holds && !strstr(e.text, c->holds))
        fail_msg("expected to hold '%s', got:\n%s", c->holds, e.text);
    assert_int_equal(job.n_types, 77);
    error_clear(&e);
    arena_free(&arena);
}

static void reports_all_errors_by_line(void **state)
{
    (void)state;
    static const char yaml[] = "training: {epochs: 0}\n"
                               "devices:\n"
                               "  a: {count: 0, batch: 8}\n"
                               "  b: {count: 4, btach: 8, data: 1 XB}\n"
                               "nmae: x\n";
    static const char *const place[] = {"lab.yaml:1:20: epochs", "lab.yaml:3:14: count",
                                        "lab.yaml:4:3: ",        "lab.yaml:4:17: unknown key",
                                        "lab.yaml:4:33: data",   "lab.yaml:5:1: unknown key"};
    struct arena arena = {0};
    struct error e = {0};
    struct job job = {0};
    assert_false(job_parse(&arena, yaml, strlen(yaml), "lab.yaml", ".", &job, &e));
    const char *at = e.text;
    for (size_t i = 0; i < sizeof place / sizeof *place; i++) {
        at = strstr(at, place[i]);
        if (!at)
            fail_msg("expected '%s' in order in:\n%s", place[i], e.text);
    }
    error_clear(&e);
    arena_free(&arena);
}

static void shows_the_line_and_a_caret_under_the_value(void **state)
{
    (void)state;
    static const char yaml[] = "devices: {a: {count: 4, batch: 8}}\nname: a/b\n";
    struct arena arena = {0};
    struct error e = {0};
    struct job job = {0};
    assert_false(job_parse(&arena, yaml, strlen(yaml), "lab.yaml", ".", &job, &e));
    assert_non_null(strstr(e.text, "\n    name: a/b\n          ^"));
    error_clear(&e);
    arena_free(&arena);
}

static void tells_a_wrong_subsystem_once(void **state)
{
    (void)state;
    static const char *const yaml[] = {
        "devices: {a: {count: 2, batch: 8, subsystem: 0}}\n",
        "devices: {a: {count: 2, batch: 8, subsystem: {hosts: []}}}\n",
        "devices: {a: {count: 2, batch: 8, profile: []}}\n",
    };
    for (size_t i = 0; i < sizeof yaml / sizeof *yaml; i++) {
        struct arena arena = {0};
        struct error e = {0};
        struct job job = {0};
        assert_false(job_parse(&arena, yaml[i], strlen(yaml[i]), "lab.yaml", ".", &job, &e));
        assert_null(strstr(strstr(e.text, "lab.yaml:") + 1, "lab.yaml:"));
        error_clear(&e);
        arena_free(&arena);
    }
}

static void tells_a_hundred_errors_and_counts_the_rest(void **state)
{
    (void)state;
    char yaml[8192] = "devices: {a: {count: 4, batch: 8}}\n";
    for (int i = 0; i < 120; i++)
        sprintf(yaml + strlen(yaml), "zzz%d: 1\n", i);
    struct arena arena = {0};
    struct error e = {0};
    struct job job = {0};
    assert_false(job_parse(&arena, yaml, strlen(yaml), "lab.yaml", ".", &job, &e));
    assert_non_null(strstr(e.text, "lab.yaml: and 20 more errors"));
    error_clear(&e);
    arena_free(&arena);
}

int main(void)
{
    static const struct CMUnitTest own[] = {
        cmocka_unit_test(reports_all_errors_by_line),
        cmocka_unit_test(shows_the_line_and_a_caret_under_the_value),
        cmocka_unit_test(tells_a_wrong_subsystem_once),
        cmocka_unit_test(tells_a_hundred_errors_and_counts_the_rest),
    };
    enum { N_OWN = sizeof own / sizeof *own };
    static struct CMUnitTest test[N_OWN + N_REFUSALS];
    memcpy(test, own, sizeof own);
    for (size_t i = 0; i < N_REFUSALS; i++) {
        test[N_OWN + i] = (struct CMUnitTest){.name = refusal[i].name,
                                              .test_func = check_refusal,
                                              .initial_state = (void *)(uintptr_t)&refusal[i]};
    }
    return cmocka_run_group_tests_name("job errors", test, NULL, NULL);
}
