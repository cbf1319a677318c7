#include "profile/rounds_field.h"

#include "profile/profile.h"

const struct field rounds_field[N_ROUNDS_FIELDS] = {
    {"message_bytes", FIELD_NUMBER, true, offsetof(struct profile_rounds, message_bytes), 1},
    {"idle_s", FIELD_NUMBER, true, offsetof(struct profile_rounds, idle_s), 0},
    {"busy_s", FIELD_NUMBER, true, offsetof(struct profile_rounds, busy_s), 0},
    {"lost_s", FIELD_NUMBER, false, offsetof(struct profile_rounds, lost_s), 0},
    {"large_message_bytes", FIELD_NUMBER, false,
     offsetof(struct profile_rounds, large_message_bytes), 1},
    {"large_idle_s", FIELD_NUMBER, false, offsetof(struct profile_rounds, large_idle_s), 0},
    {"large_busy_s", FIELD_NUMBER, false, offsetof(struct profile_rounds, large_busy_s), 0},
    {"large_lost_s", FIELD_NUMBER, false, offsetof(struct profile_rounds, large_lost_s), 0},
};
