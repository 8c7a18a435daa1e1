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
 * - They return 0 or a number on success and a negative `phaselock_error` on failure.
 *   `phaselock_error_detail` says what was wrong with the last failed call of the thread.
 * - None blocks, except `phaselock_close` for up to a second.
 * - Any thread may call them. A client is in one call at a time; a second one gets PHASELOCK_BUSY.
 * - Memory that you pass is used during the call only. Texts are UTF-8.
 * - Handles are numbers that are never used twice. A closed one gives PHASELOCK_BAD_HANDLE.
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

/* Limits. */
#define PHASELOCK_FIELDS_MAX 20   /* fields of an entity or of an input */
#define PHASELOCK_NAME_BYTES 33   /* a player's name, with its zero byte */
#define PHASELOCK_TEXT_BYTES 2048 /* text or message of an event, with a zero byte */
#define PHASELOCK_CLIENTS_MAX 256 /* clients of a process at a time */
#define PHASELOCK_GAMES_MAX 64    /* different descriptions that a process can load; those with a
                                   * wrong hash count as well */

#define PHASELOCK_NOBODY (-1) /* no player */
#define PHASELOCK_INPUT (-1)  /* the input's record, where a kind is expected */

enum phaselock_error {
    PHASELOCK_BAD_ARGUMENT = -1,    /* a pointer, length, number or text cannot be used */
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

/* Version of the library's interface: PHASELOCK_ABI of the header that it was built with. */
uint32_t phaselock_abi(void);

/* Version of the library, such as "0.1.0". Never freed. */
const char *phaselock_version(void);

/* What an error means, in a sentence. Never freed. */
const char *phaselock_error_text(int32_t code);

/* Copies the details of the last failed call on this thread, clipped to the capacity. Returns the
 * length of the whole text. */
int32_t phaselock_error_detail(char *text, size_t capacity);

/* ---- Games ---- */

/* Loads a game from the JSON that `phaselock-server describe GAME` prints. An equal description
 * gives the same handle. A loaded game stays until the process ends. */
int32_t phaselock_load_game(const char *description, size_t length, phaselock_game *game);

/* Returns the number of a kind of entities, such as "Runner". */
int32_t phaselock_kind(phaselock_game game, const char *name);

/* Returns the index of a field, such as "position.x", of a kind or of PHASELOCK_INPUT. */
int32_t phaselock_field(phaselock_game game, int32_t kind, const char *name);

/* Returns the number of fields of a kind, or of PHASELOCK_INPUT. */
int32_t phaselock_field_count(phaselock_game game, int32_t kind);

/* ---- Prediction ---- */

/* One tick of your player's entity. `input` and `fields` have PHASELOCK_FIELDS_MAX values each;
 * those past the record's fields are unused. Later versions of the library may append to this
 * structure. */
typedef struct phaselock_step {
    void *user;           /* as given in the options */
    double seconds;       /* length of a tick */
    uint64_t tick;        /* the tick that is predicted */
    uint64_t seed;        /* seed of the rules and the map */
    const uint8_t *setup; /* the server's configuration of the rules, in the game's format */
    size_t setup_length;
    const double *input;  /* the player's input for this tick */
    double *fields;       /* in: the entity before the tick; out: after it */
    uint32_t kind;        /* kind of the entity */
    int32_t player;       /* the player */
} phaselock_step;

/* Moves your player's entity by one tick, exactly as the server's rules do. Called several times
 * per frame, within `phaselock_frame`, since the inputs that the server has not confirmed are
 * replayed. Afterwards the library rounds all fields to their grid, as the server does.
 *
 * Compute in `float` if the rules do, in the same order, without fused operations (gcc and clang:
 * -ffp-contract=off), so that the results have the same bits. Read and write nothing but the step
 * and what `user` points to. Do not call functions with the same client. Return normally: no
 * exception, no longjmp. */
typedef void (*phaselock_predict)(const phaselock_step *step);

/* ---- Clients ---- */

#define PHASELOCK_JOIN_TO_WATCH 1u /* as a spectator, without a seat */
#define PHASELOCK_PREDICT_KIND 2u  /* predict only entities of `own_kind` */

/* How to join. Set everything to zero first: `phaselock_options options = {0};` */
typedef struct phaselock_options {
    uint32_t abi;            /* PHASELOCK_ABI */
    uint32_t flags;          /* PHASELOCK_JOIN_TO_WATCH, PHASELOCK_PREDICT_KIND */
    phaselock_game game;     /* the game to play */
    const char *server;      /* "host", "host:port", or a link "phaselock://host:port#sha256:..." */
    const char *name;        /* the player's name */
    const char *password;    /* the server's password, or NULL */
    const char *room;        /* code of a room, or NULL for the server's choice */
    const char *known_hosts; /* file of known servers, which is created and extended. NULL trusts
                              * the fingerprint in the link, or any server if there is none */
    const char *key_file;    /* file of the player's key, created if missing. NULL: a new player */
    phaselock_predict predict; /* NULL: your entity is interpolated like all others */
    void *user;              /* passed to `predict` */
    int32_t own_kind;        /* with PHASELOCK_PREDICT_KIND: of the entities that your player owns,
                              * the first of this kind is predicted. Otherwise 0: the first one */
    uint32_t reserved;       /* 0 */
} phaselock_options;

/* Starts to join a server, and returns at once. The library has a thread for each client's network;
 * everything else happens in your calls. */
int32_t phaselock_connect(const phaselock_options *options, phaselock_client *client);

/* States of a client, as `phaselock_frame` returns them. */
#define PHASELOCK_JOINING 0  /* connecting */
#define PHASELOCK_PLAYING 1
#define PHASELOCK_WATCHING 2 /* as a spectator */
#define PHASELOCK_WAITING 3  /* the server is lost; another attempt follows */
#define PHASELOCK_ENDED 4    /* over for good: close the client */

/* Runs one frame: handles what has arrived, gives the input to each tick that is due, and computes
 * what to show now. `input` has a value for each field of the input's record; values are rounded to
 * the field's grid. Returns the state. Call it at least 20 times a second. */
int32_t phaselock_frame(phaselock_client client, const double *input, size_t count);

/* Returns 1 if a tick has used the input of the last frame, otherwise 0: then let keys that were
 * pressed only briefly count as held in the next frame. */
int32_t phaselock_input_was_used(phaselock_client client);

#define PHASELOCK_OWN 1u       /* your player owns it */
#define PHASELOCK_PREDICTED 2u /* the one that your player steers, as predicted */

typedef struct phaselock_entity {
    uint32_t id;    /* stays with the entity for life */
    int32_t owner;  /* a player, or PHASELOCK_NOBODY */
    uint32_t kind;
    uint32_t flags; /* PHASELOCK_OWN, PHASELOCK_PREDICTED */
    double fields[PHASELOCK_FIELDS_MAX];
} phaselock_entity;

/* Copies the entities as they are to be shown in this frame, in the order of their ids: as many as
 * fit. Returns how many there are. */
int32_t phaselock_entities(phaselock_client client, phaselock_entity *entities, size_t capacity);

#define PHASELOCK_SELF 1u      /* your player */
#define PHASELOCK_BOT 2u       /* a bot of the server */
#define PHASELOCK_SPECTATOR 4u

typedef struct phaselock_player {
    int32_t id;
    uint32_t flags; /* PHASELOCK_SELF, PHASELOCK_BOT, PHASELOCK_SPECTATOR */
    char name[PHASELOCK_NAME_BYTES];
} phaselock_player;

/* Copies players and spectators: as many as fit. Returns how many there are. */
int32_t phaselock_players(phaselock_client client, phaselock_player *players, size_t capacity);

/* Kinds of events: what `code` and `text` are. */
#define PHASELOCK_EVENT_JOINING 1u        /* an attempt to join begins; code: its number */
#define PHASELOCK_EVENT_JOINED 2u
#define PHASELOCK_EVENT_LOST 3u           /* code and text: why (WIRE.md); it will try again */
#define PHASELOCK_EVENT_ENDED 4u          /* code and text: why; for good */
#define PHASELOCK_EVENT_GAME 5u           /* a game begins; text: the server's name; code: 1 if seat
                                           * and entity are those from before a lost connection */
#define PHASELOCK_EVENT_MESSAGE 6u        /* text: an event of the rules, in the game's format */
#define PHASELOCK_EVENT_CHAT 7u           /* player (PHASELOCK_NOBODY: the host) and text */
#define PHASELOCK_EVENT_PLAYER_JOINED 8u  /* text: the name */
#define PHASELOCK_EVENT_PLAYER_LEFT 9u    /* text: the name; code: why */
#define PHASELOCK_EVENT_PLAYER_RENAMED 10u /* text: the new name */
#define PHASELOCK_EVENT_REFUSED 11u       /* the server refused a request; text: why; code: the kind
                                           * of request (WIRE.md) */

typedef struct phaselock_event {
    uint32_t kind;   /* PHASELOCK_EVENT_... */
    int32_t player;  /* whom it is about, or PHASELOCK_NOBODY */
    int32_t code;
    uint32_t length; /* bytes in `text`, without the zero byte after them */
    char text[PHASELOCK_TEXT_BYTES];
} phaselock_event;

/* Takes the next event: 1 if there was one, 0 if not. Up to 512 wait; then the oldest are dropped,
 * chat first. */
int32_t phaselock_poll_event(phaselock_client client, phaselock_event *event);

/* What a client knows of the world and of its connection. Zero before the first game. */
typedef struct phaselock_status {
    int32_t state;
    int32_t player;          /* your player, or PHASELOCK_NOBODY before the first game */
    uint32_t tick_hz;
    uint32_t snapshot_hz;
    uint64_t seed;           /* seed of the rules and the map */
    double server_seconds;   /* the server's time */
    double round_trip_ms;
    double lead_ms;          /* how far your player is ahead of the server's time */
    double delay_ms;         /* how far all others are behind it */
    double loss;             /* fraction of the snapshot packets that were lost */
    uint64_t frames;         /* frames drawn */
    uint64_t ticks;          /* ticks predicted */
    uint64_t snapshots;      /* snapshots received */
    uint64_t late_inputs;    /* ticks that the server ran without your input */
    uint64_t mispredictions; /* corrections of your entity */
    uint64_t unexplained;    /* those that late inputs do not explain: `predict` differs from the
                              * rules, or something else moved your entity */
} phaselock_status;

/* Copies the status. Returns the state. */
int32_t phaselock_get_status(phaselock_client client, phaselock_status *status);

/* Copies the server's configuration of the rules, in the game's format: as much as fits. Returns
 * its length; 0 stands for the default, or for no game yet. */
int32_t phaselock_setup(phaselock_client client, uint8_t *bytes, size_t capacity);

/* Sends a chat line to all players. */
int32_t phaselock_say(phaselock_client client, const char *text);

/* Sends a request to the rules, in the game's format; reliable, at most some per second. */
int32_t phaselock_request(phaselock_client client, const uint8_t *bytes, size_t length);

/* Leaves the server, for a reason that its log shows (or NULL), and frees the client. */
int32_t phaselock_close(phaselock_client client, const char *reason);

#ifdef __cplusplus
}
#endif

#endif
