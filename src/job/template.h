/* The commented job file that `foretrain init` writes. */
#ifndef FORETRAIN_JOB_TEMPLATE_H
#define FORETRAIN_JOB_TEMPLATE_H

extern const char job_template[];

#endif
