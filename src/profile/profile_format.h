/* Names of the profile's formats, shared by those who read and write them. */
#ifndef FORETRAIN_PROFILE_PROFILE_FORMAT_H
#define FORETRAIN_PROFILE_PROFILE_FORMAT_H

#define PROFILE_FORMAT "foretrain.profile/1"
#define SAMPLES_FORMAT "foretrain.samples/1"
#define RECORD_FORMAT "foretrain.record/1"

#endif
