/* Hosts reached with the user's ssh. */
#include "measure/remote.h"
#include "measure/ssh.h"

static bool command_ssh(struct launcher *launcher, const char *host, const char *const *command,
                        const char *const **argv, struct error *e)
{
    return ssh_command(&launcher->arena, launcher->job, host, command, argv, e);
}

static bool open_ssh(struct launcher *launcher, struct error *e)
{
    (void)e;
    launcher->remote = ARENA_NEW(&launcher->arena, struct remote);
    launcher->remote->command = command_ssh;
    launcher->remote->hint = ssh_hint;
    return true;
}

const struct launcher_kind_functions launcher_ssh = {
    .name = "ssh",
    .open = open_ssh,
    .close = remote_close,
    .reach = remote_reach,
    .address = remote_address,
    .interface = remote_interface,
    .free_port = remote_free_port,
    .start = remote_start,
    .ended = remote_ended,
    .stop = remote_stop,
    .stage = remote_stage,
    .make_folder = remote_make_folder,
    .path = remote_path,
    .fetch = remote_fetch,
    .cool = remote_cool,
    .unstage = remote_unstage,
};
