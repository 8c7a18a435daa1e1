/* Phaselock's client for C and C++: join a server, send inputs, read entities and events.
 *
 *     phaselock_load_game   the game, as `phaselock-server describe GAME` prints it
 *     phaselock_connect     joins in the background, and joins again whenever the server is lost
 *     phaselock_frame       once per frame of your program, with the player's input
 *     phaselock_entities    what to draw
 *     phaselock_poll_event  what happened
 *     phaselock_close       leaves
 *
 * Rules for all functions:
 *
 * - They return 0 or a number on success and a negative `phaselock_error` on failure, unless stated
 *   otherwise. `phaselock_error_detail` says what was wrong with the last failed call of the
 *   thread. A failed call changes nothing, except that PHASELOCK_BROKEN ends its client.
 * - Each function lists its errors. Any function can also fail with PHASELOCK_BROKEN, a bug in the
 *   library. Any function that takes a client fails with PHASELOCK_BAD_HANDLE if it was closed or
 *   never existed, and with PHASELOCK_BUSY if it is in another call; any that takes a game, with
 *   PHASELOCK_BAD_HANDLE if that was never loaded.
 * - PHASELOCK_BAD_ARGUMENT means NULL where that is not allowed, a misaligned pointer, a text that
 *   is longer than its maximum or not UTF-8, or what the function lists.
 * - None blocks, except `phaselock_close` for up to a second.
 * - Any thread may call them, also at the same time with different clients. A client is in one call
 *   at a time; a second one does not wait but gets PHASELOCK_BUSY.
 * - Memory that you pass is used during the call only; the library keeps copies. Memory that you
 *   get is yours, in your own buffers: nothing needs to be freed except clients, with
 *   `phaselock_close`.
 * - Texts that you pass are UTF-8 and end with a zero byte, unless they have a length. Maximum
 *   lengths are in bytes and do not count the zero byte.
 * - A capacity is the number of elements that a buffer holds. The function writes as many as fit
 *   and returns how many there are, so a result above the capacity means that some are missing. If
 *   the capacity is 0, the buffer may be NULL.
 * - Handles are numbers that are never used twice.
 * - Close all clients before you unload the library or fork: each has a thread.
 */
#ifndef PHASELOCK_H
#define PHASELOCK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this interface. Structures and functions of one version never change, except that
 * `phaselock_step` may grow at its end. */
#define PHASELOCK_ABI 1

/* Limits of the library. */
#define PHASELOCK_CLIENTS_MAX 256 /* clients of a process at a time */
#define PHASELOCK_GAMES_MAX 64    /* different descriptions that a process can load; those with a
                                   * wrong hash count as well */

/* Maximum lengths of what you pass, in bytes, without a zero byte. */
#define PHASELOCK_DESCRIPTION_BYTES_MAX 1048576 /* description of a game */
#define PHASELOCK_WORD_BYTES_MAX 400            /* a server's address or link; a name to look up */
#define PHASELOCK_LINE_BYTES_MAX 256            /* player's name, password, chat line, reason */
#define PHASELOCK_PATH_BYTES_MAX 4096           /* path of a file */
#define PHASELOCK_REQUEST_BYTES_MAX 2040        /* request to the rules */

/* Maximum sizes of what you get. */
#define PHASELOCK_KINDS_MAX 64         /* kinds of entities of a game */
#define PHASELOCK_FIELDS_MAX 20        /* fields of an entity or of an input */
#define PHASELOCK_ENTITIES_MAX 16384   /* entities at a time */
#define PHASELOCK_PLAYERS_MAX 1536     /* players, bots and spectators at a time */
#define PHASELOCK_SETUP_BYTES_MAX 1024 /* configuration of the rules */
#define PHASELOCK_EVENTS_MAX 512       /* events that wait for `phaselock_poll_event` */
#define PHASELOCK_NAME_BYTES 33        /* a player's name, with its zero byte */
#define PHASELOCK_TEXT_BYTES 2048      /* text or message of an event, with a zero byte */

#define PHASELOCK_NOBODY (-1) /* no player; players are numbered from 0 to 65534 */
#define PHASELOCK_INPUT (-1)  /* the input's record, where a kind is expected */

enum phaselock_error {
    PHASELOCK_BAD_ARGUMENT = -1,    /* an invalid pointer, length, number or text */
    PHASELOCK_BAD_HANDLE = -2,      /* no such game or client; it may have been closed */
    PHASELOCK_BUSY = -3,            /* the client is in another call */
    PHASELOCK_BAD_DESCRIPTION = -4, /* not a description of a game */
    PHASELOCK_OTHER_VERSION = -5,   /* program, library and description do not match */
    PHASELOCK_TOO_MANY = -6,        /* a limit is reached; for messages, try again later */
    PHASELOCK_NOT_PLAYING = -7,     /* only possible in a game */
    PHASELOCK_SYSTEM = -8,          /* a system call failed, for example starting a thread */
    PHASELOCK_BROKEN = -9           /* internal error in the library; close the client */
};

/* A loaded game, and a player on a server. 0 is neither. */
typedef uint64_t phaselock_game;
typedef uint64_t phaselock_client;

/* Version of the library's interface: PHASELOCK_ABI of the header that it was built with. Never
 * fails. */
uint32_t phaselock_abi(void);

/* Version of the library, such as "0.1.0". Never fails; do not free it. */
const char *phaselock_version(void);

/* What an error means, in English without a full stop; "no error" for 0 and positive numbers. Never
 * fails; do not free it. */
const char *phaselock_error_text(int32_t code);

/* Copies the details of the last failed call on this thread, in English: a text that ends with a
 * zero byte, clipped to the capacity. Returns the length of the whole text in bytes, without the
 * zero byte; 0 if no call has failed. Successful calls do not clear it.
 *
 * PHASELOCK_BAD_ARGUMENT: `text` is NULL, and `capacity` is not 0. */
int32_t phaselock_error_detail(char *text, size_t capacity);

/* ---- Games ---- */

/* Loads a game from the JSON that `phaselock-server describe GAME` prints: `length` bytes, which
 * need no zero byte. Writes the handle to `game`, or 0 on failure. An equal description gives the
 * same handle. A loaded game stays until the process ends, and all threads and clients can share
 * it.
 *
 * PHASELOCK_BAD_ARGUMENT: `length` is above PHASELOCK_DESCRIPTION_BYTES_MAX.
 * PHASELOCK_BAD_DESCRIPTION: not the JSON of a game, or changed by hand.
 * PHASELOCK_OTHER_VERSION: printed by a server with another protocol than this library's.
 * PHASELOCK_TOO_MANY: PHASELOCK_GAMES_MAX descriptions are loaded. */
int32_t phaselock_load_game(const char *description, size_t length, phaselock_game *game);

/* Returns the number that identifies a kind of entities, such as "Runner": 0 to
 * PHASELOCK_KINDS_MAX - 1.
 *
 * PHASELOCK_BAD_ARGUMENT: the game has no such kind. */
int32_t phaselock_kind(phaselock_game game, const char *name);

/* Returns the index of a field, such as "position.x", of a kind or of PHASELOCK_INPUT: 0 to
 * PHASELOCK_FIELDS_MAX - 1.
 *
 * PHASELOCK_BAD_ARGUMENT: the game has no such kind, or the kind no such field. */
int32_t phaselock_field(phaselock_game game, int32_t kind, const char *name);

/* Returns the number of fields of a kind, or of PHASELOCK_INPUT: 0 to PHASELOCK_FIELDS_MAX.
 *
 * PHASELOCK_BAD_ARGUMENT: the game has no such kind. */
int32_t phaselock_field_count(phaselock_game game, int32_t kind);

/* ---- Prediction ---- */

/* One tick of your player's entity. `input` and `fields` have PHASELOCK_FIELDS_MAX values each;
 * those past the record's fields are unused. All pointers except `user` are valid only until the
 * function returns. Later versions of the library may append to this structure. */
typedef struct phaselock_step {
    void *user;           /* as given in the options */
    double seconds;       /* length of a tick, in seconds */
    uint64_t tick;        /* the tick that is predicted */
    uint64_t seed;        /* seed of the rules and the map */
    const uint8_t *setup; /* the server's configuration of the rules, in the game's format */
    size_t setup_length;  /* bytes in `setup`, up to PHASELOCK_SETUP_BYTES_MAX */
    const double *input;  /* the player's input for this tick */
    double *fields;       /* in: the entity before the tick; out: after it */
    uint32_t kind;        /* kind of the entity, as from `phaselock_kind` */
    int32_t player;       /* your player */
} phaselock_step;

/* Moves your player's entity by one tick, exactly as the server's rules do. Called several times
 * per frame, within `phaselock_frame` and on its thread, since the inputs that the server has not
 * confirmed are replayed. Afterwards the library rounds all fields to their grid, as the server
 * does.
 *
 * Compute in `float` if the rules do, in the same order, without fused operations (gcc and clang:
 * -ffp-contract=off), so that the results have the same bits. Read and write nothing but the step
 * and what `user` points to. Calls with the same client fail with PHASELOCK_BUSY. Return normally:
 * no exception, no longjmp. */
typedef void (*phaselock_predict)(const phaselock_step *step);

/* ---- Clients ---- */

#define PHASELOCK_JOIN_TO_WATCH 1u /* as a spectator, without a seat */
#define PHASELOCK_PREDICT_KIND 2u  /* predict only entities of `own_kind` */

/* How to join. Set everything to zero first: `phaselock_options options = {0};` The library copies
 * all texts. Only what `predict` and `user` point to must stay until the client is closed. */
typedef struct phaselock_options {
    uint32_t abi;            /* PHASELOCK_ABI */
    uint32_t flags;          /* PHASELOCK_JOIN_TO_WATCH, PHASELOCK_PREDICT_KIND */
    phaselock_game game;     /* the game to play */
    const char *server;      /* "host", "host:port", or a link "phaselock://host:port#sha256:...";
                              * at most PHASELOCK_WORD_BYTES_MAX bytes */
    const char *name;        /* the player's name; at most PHASELOCK_LINE_BYTES_MAX bytes. Servers
                              * refuse names of more than 32 bytes */
    const char *password;    /* the server's password, or NULL; at most PHASELOCK_LINE_BYTES_MAX
                              * bytes */
    const char *room;        /* code of a room: 1 to 32 of a-z, 0-9 and '-'. NULL for the server's
                              * choice */
    const char *known_hosts; /* file of known servers, which is created and extended; at most
                              * PHASELOCK_PATH_BYTES_MAX bytes. NULL trusts the fingerprint in the
                              * link, or any server if there is none */
    const char *key_file;    /* file of the player's key, created if missing; at most
                              * PHASELOCK_PATH_BYTES_MAX bytes. NULL: a new player */
    phaselock_predict predict; /* NULL: your entity is interpolated like all others */
    void *user;              /* passed to `predict`; may be NULL */
    int32_t own_kind;        /* with PHASELOCK_PREDICT_KIND: of the entities that your player owns,
                              * the first of this kind is predicted. Otherwise 0: the first one */
    uint32_t reserved;       /* 0 */
} phaselock_options;

/* Starts to join a server, and returns at once. Writes the handle to `client`, or 0 on failure. The
 * library has a thread for each client's network; everything else happens in your calls. Problems
 * with the server, the network or the files are events and states of the client, not errors of this
 * function. Free the client with `phaselock_close`, even if it has ended by itself.
 *
 * PHASELOCK_BAD_ARGUMENT: an unknown flag, a kind that the game does not have, or a text that is no
 * address, link or room code.
 * PHASELOCK_BAD_HANDLE: `game` is not a loaded game.
 * PHASELOCK_OTHER_VERSION: `abi` is not the library's.
 * PHASELOCK_TOO_MANY: the process has PHASELOCK_CLIENTS_MAX clients.
 * PHASELOCK_SYSTEM: the system cannot start a thread. */
int32_t phaselock_connect(const phaselock_options *options, phaselock_client *client);

/* States of a client, as `phaselock_frame` returns them. */
#define PHASELOCK_JOINING 0  /* connecting */
#define PHASELOCK_PLAYING 1
#define PHASELOCK_WATCHING 2 /* as a spectator */
#define PHASELOCK_WAITING 3  /* the server is lost; another attempt follows */
#define PHASELOCK_ENDED 4    /* over for good: close the client */

/* Runs one frame: handles what has arrived, gives the input to each tick that is due, and computes
 * what to show now. `input` has `count` values, one for each field of the input's record. Values
 * are clamped to the field's range (angles wrap; NaN becomes the minimum) and rounded to its grid.
 * Returns the state, one of the five above. Call it at least 20 times a second, in all states: this
 * is also what joins the server.
 *
 * PHASELOCK_BAD_ARGUMENT: `count` is not the input's number of fields. */
int32_t phaselock_frame(phaselock_client client, const double *input, size_t count);

/* Returns 1 if a tick has used the input of the last frame, otherwise 0: then let keys that were
 * pressed only briefly count as held in the next frame. No errors of its own. */
int32_t phaselock_input_was_used(phaselock_client client);

#define PHASELOCK_OWN 1u       /* your player owns it */
#define PHASELOCK_PREDICTED 2u /* the one that your player steers, as predicted */

typedef struct phaselock_entity {
    uint32_t id;    /* the same for the entity's life; may be reused long after it is gone */
    int32_t owner;  /* a player, or PHASELOCK_NOBODY */
    uint32_t kind;  /* as from `phaselock_kind` */
    uint32_t flags; /* PHASELOCK_OWN, PHASELOCK_PREDICTED */
    double fields[PHASELOCK_FIELDS_MAX]; /* by index, in the units of the rules */
} phaselock_entity;

/* Copies the entities as they are to be shown in this frame, in the order of the low 16 bits of
 * their ids. Returns how many there are, up to PHASELOCK_ENTITIES_MAX; 0 before the first game.
 * They change only in `phaselock_frame`.
 *
 * PHASELOCK_BAD_ARGUMENT: `entities` is NULL or misaligned, and `capacity` is not 0. */
int32_t phaselock_entities(phaselock_client client, phaselock_entity *entities, size_t capacity);

#define PHASELOCK_SELF 1u      /* your player */
#define PHASELOCK_BOT 2u       /* a bot of the server */
#define PHASELOCK_SPECTATOR 4u

typedef struct phaselock_player {
    int32_t id;
    uint32_t flags; /* PHASELOCK_SELF, PHASELOCK_BOT, PHASELOCK_SPECTATOR */
    char name[PHASELOCK_NAME_BYTES]; /* UTF-8 with a zero byte; no control characters */
} phaselock_player;

/* Copies players, bots and spectators. Returns how many there are, up to PHASELOCK_PLAYERS_MAX; 0
 * before the first game.
 *
 * PHASELOCK_BAD_ARGUMENT: `players` is NULL or misaligned, and `capacity` is not 0. */
int32_t phaselock_players(phaselock_client client, phaselock_player *players, size_t capacity);

/* Why a connection ended, or a player left: the `code` of PHASELOCK_EVENT_LOST, _ENDED and
 * _PLAYER_LEFT. Servers of later versions may have more. */
#define PHASELOCK_REASON_LEFT 0          /* the player left */
#define PHASELOCK_REASON_LOST 1          /* the connection was lost */
#define PHASELOCK_REASON_SHUTDOWN 2      /* the server is shutting down */
#define PHASELOCK_REASON_DRAINING 3      /* the server accepts no new players and will stop soon */
#define PHASELOCK_REASON_FULL 4          /* all seats are taken */
#define PHASELOCK_REASON_OTHER_WIRE 5    /* library and server have different protocols */
#define PHASELOCK_REASON_OTHER_GAME 6    /* the description does not match the server's game */
#define PHASELOCK_REASON_PROTOCOL 7      /* one side broke the protocol */
#define PHASELOCK_REASON_SILENT 8        /* the other side was silent for too long */
#define PHASELOCK_REASON_NOT_READING 9   /* the other side did not read its messages */
#define PHASELOCK_REASON_KICKED 10       /* the host kicked the player */
#define PHASELOCK_REASON_REPLACED 11     /* the player came back over another connection */
#define PHASELOCK_REASON_BAD_PROOF 12    /* the proof of the player's key is wrong */
#define PHASELOCK_REASON_BAD_TOKEN 13    /* the old seat belongs to another player */
#define PHASELOCK_REASON_REFUSED 14      /* the client cannot join the server, or may not */
#define PHASELOCK_REASON_FAILED 15       /* the room failed and could not continue */
#define PHASELOCK_REASON_NO_ROOM 16      /* there is no room with this code */
#define PHASELOCK_REASON_BANNED 17       /* the player or the address is banned */
#define PHASELOCK_REASON_PASSWORD 18     /* the password is wrong or missing */
#define PHASELOCK_REASON_NOT_LISTED 19   /* the player is not on the server's list */
#define PHASELOCK_REASON_IDLE 20         /* the player was idle for longer than the host allows */
#define PHASELOCK_REASON_BAD_NAME 21     /* the name is not accepted; choose another */
#define PHASELOCK_REASON_FOREIGN_PAGE 22 /* only in browsers */
#define PHASELOCK_REASON_OLD_CLIENT 23   /* the library is older than the host accepts */

/* Which request was refused: the `code` of PHASELOCK_EVENT_REFUSED. */
#define PHASELOCK_REFUSED_CHAT 2    /* a line of `phaselock_say` */
#define PHASELOCK_REFUSED_REQUEST 3 /* a request of `phaselock_request` */

/* Kinds of events: what `code` and `text` are. Codes and texts that are not listed are 0 and
 * empty. */
#define PHASELOCK_EVENT_JOINING 1u        /* an attempt to join begins; code: its number */
#define PHASELOCK_EVENT_JOINED 2u
#define PHASELOCK_EVENT_LOST 3u           /* code and text: why; it will try again */
#define PHASELOCK_EVENT_ENDED 4u          /* code and text: why; for good */
#define PHASELOCK_EVENT_GAME 5u           /* a game begins; text: the server's name; code: 1 if seat
                                           * and entity are those from before a lost connection */
#define PHASELOCK_EVENT_MESSAGE 6u        /* text: an event of the rules, in the game's format */
#define PHASELOCK_EVENT_CHAT 7u           /* player (PHASELOCK_NOBODY: the host) and text */
#define PHASELOCK_EVENT_PLAYER_JOINED 8u  /* text: the name */
#define PHASELOCK_EVENT_PLAYER_LEFT 9u    /* text: the name; code: why */
#define PHASELOCK_EVENT_PLAYER_RENAMED 10u /* text: the new name */
#define PHASELOCK_EVENT_REFUSED 11u       /* the server refused a request; text: why; code:
                                           * PHASELOCK_REFUSED_... */

typedef struct phaselock_event {
    uint32_t kind;   /* PHASELOCK_EVENT_... */
    int32_t player;  /* whom it is about, or PHASELOCK_NOBODY */
    int32_t code;
    uint32_t length; /* bytes in `text`, without the zero byte after them */
    char text[PHASELOCK_TEXT_BYTES]; /* UTF-8, except PHASELOCK_EVENT_MESSAGE: any bytes */
} phaselock_event;

/* Takes the next event: 1 if there was one, 0 if not. New ones come only in calls with this client;
 * up to PHASELOCK_EVENTS_MAX wait. Beyond that the oldest is dropped for each new one, but
 * PHASELOCK_EVENT_JOINING, _JOINED, _LOST, _ENDED and _GAME only if there are no others.
 *
 * PHASELOCK_BAD_ARGUMENT: `event` is NULL or misaligned; no event is lost. */
int32_t phaselock_poll_event(phaselock_client client, phaselock_event *event);

/* What a client knows of the world and of its connection. All but `state` and `player` are zero
 * before the first game. Counters start at 0 whenever a server is joined. While the connection is
 * lost, all values but `state`, `server_seconds`, `delay_ms` and `frames` stay as they were. */
typedef struct phaselock_status {
    int32_t state;           /* as `phaselock_frame` returns it */
    int32_t player;          /* your player, or PHASELOCK_NOBODY before the first game */
    uint32_t tick_hz;        /* ticks per second */
    uint32_t snapshot_hz;    /* snapshots per second */
    uint64_t seed;           /* seed of the rules and the map */
    double server_seconds;   /* the server's time: seconds since its tick 0 */
    double round_trip_ms;    /* the last round trip measured, in ms */
    double lead_ms;          /* how far your player is ahead of the server's time, in ms */
    double delay_ms;         /* how far all others are behind it, in ms */
    double loss;             /* fraction of the snapshot packets that were lost, 0 to 1 */
    uint64_t frames;         /* frames drawn */
    uint64_t ticks;          /* ticks predicted */
    uint64_t snapshots;      /* snapshots received */
    uint64_t late_inputs;    /* ticks that the server ran without your input */
    uint64_t mispredictions; /* corrections of your entity */
    uint64_t unexplained;    /* those that late inputs do not explain: `predict` differs from the
                              * rules, or something else moved your entity */
} phaselock_status;

/* Copies the status. Returns the state.
 *
 * PHASELOCK_BAD_ARGUMENT: `status` is NULL or misaligned. */
int32_t phaselock_get_status(phaselock_client client, phaselock_status *status);

/* Copies the server's configuration of the rules, in the game's format. Returns its length in
 * bytes, up to PHASELOCK_SETUP_BYTES_MAX; 0 stands for the default, or for no game yet.
 *
 * PHASELOCK_BAD_ARGUMENT: `bytes` is NULL, and `capacity` is not 0. */
int32_t phaselock_setup(phaselock_client client, uint8_t *bytes, size_t capacity);

/* Sends a chat line to all players with the next frame; it also comes back as PHASELOCK_EVENT_CHAT.
 * At most PHASELOCK_LINE_BYTES_MAX bytes. The server accepts one line per second, in bursts of up
 * to four; it refuses others, and lines without visible characters, with PHASELOCK_EVENT_REFUSED.
 *
 * PHASELOCK_NOT_PLAYING: the client is neither playing nor watching.
 * PHASELOCK_TOO_MANY: 64 messages are waiting to be sent; try again after the next frame. */
int32_t phaselock_say(phaselock_client client, const char *text);

/* Sends a request to the rules with the next frame, in the game's format: reliable, in order, at
 * most PHASELOCK_REQUEST_BYTES_MAX bytes. The server accepts four per second, in bursts of up to
 * eight; it refuses others, and what the rules do not understand, with PHASELOCK_EVENT_REFUSED.
 *
 * PHASELOCK_BAD_ARGUMENT: `length` is above the maximum, or `bytes` is NULL and `length` is not 0.
 * PHASELOCK_NOT_PLAYING, PHASELOCK_TOO_MANY: as for `phaselock_say`. */
int32_t phaselock_request(phaselock_client client, const uint8_t *bytes, size_t length);

/* Leaves the server, for a reason that its log shows (at most PHASELOCK_LINE_BYTES_MAX bytes, or
 * NULL), and frees the client. Waits for up to a second until the server knows. Works in all
 * states, even after PHASELOCK_BROKEN. If it fails, the client stays open.
 *
 * PHASELOCK_BAD_ARGUMENT: the reason is too long, or not UTF-8. */
int32_t phaselock_close(phaselock_client client, const char *reason);

#ifdef __cplusplus
}
#endif

#endif
