/* Plays Tag (tests/foreign) with Phaselock's C library: chases the others or runs away from the one
 * who is it, and prints what it sees.
 *
 *     tag SERVER DESCRIPTION [SECONDS [NAME]]
 *
 * SERVER is an address or a link; DESCRIPTION is a file that `tag-server describe tag` printed. */
#define _POSIX_C_SOURCE 200809L

#include <phaselock.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ENTITIES_MAX 64

/* The rules, as in tests/foreign/src/lib.rs. */
static const float SPEED = 6.0f;
static const float ACCELERATION = 24.0f;
static const double ROLE_IT = 1.0; /* 0 is free */

/* Indices of the fields. */
struct fields {
    int32_t x, y, vx, vy, role, score;
    int32_t way_x, way_y;
};

static int32_t checked(int32_t result, const char *what)
{
    char detail[256];
    if (result >= 0)
        return result;
    phaselock_error_detail(detail, sizeof detail);
    fprintf(stderr, "%s: %s (%s)\n", what, phaselock_error_text(result), detail);
    exit(EXIT_FAILURE);
}

/* Half of the square's edge: the host's configuration is one float, in postcard. */
static float half_of(const uint8_t *setup, size_t length)
{
    float half = 15.0f;
    if (length == sizeof half) {
        uint32_t bits = (uint32_t)setup[0] | (uint32_t)setup[1] << 8 | (uint32_t)setup[2] << 16 |
                        (uint32_t)setup[3] << 24;
        memcpy(&half, &bits, sizeof half);
    }
    if (isnan(half))
        half = 15.0f;
    return half < 5.0f ? 5.0f : half > 50.0f ? 50.0f : half;
}

static void clamp_length(float *x, float *y, float most)
{
    float squared = *x * *x + *y * *y;
    if (squared > most * most) {
        float length = sqrtf(squared);
        *x = most * (*x / length);
        *y = most * (*y / length);
    }
}

static float clamp(float value, float most)
{
    return value < -most ? -most : value > most ? most : value;
}

/* One tick of a runner: the same operations on the same floats as on the server. */
static void predict(const phaselock_step *step)
{
    const struct fields *at = (const struct fields *)step->user;
    float seconds = (float)step->seconds;
    float half = half_of(step->setup, step->setup_length);
    float x = (float)step->fields[at->x], y = (float)step->fields[at->y];
    float vx = (float)step->fields[at->vx], vy = (float)step->fields[at->vy];
    float speed = step->fields[at->role] == ROLE_IT ? 1.1f * SPEED : SPEED;

    float wx = (float)step->input[at->way_x], wy = (float)step->input[at->way_y];
    clamp_length(&wx, &wy, 1.0f);
    float dx = wx * speed - vx, dy = wy * speed - vy;
    clamp_length(&dx, &dy, ACCELERATION * seconds);
    vx += dx;
    vy += dy;
    step->fields[at->vx] = vx;
    step->fields[at->vy] = vy;
    step->fields[at->x] = clamp(x + vx * seconds, half);
    step->fields[at->y] = clamp(y + vy * seconds, half);
}

/* Chases the nearest runner, or runs from the one who is it and from the edges. */
static void decide(const struct fields *at, const phaselock_entity *all, int32_t count,
                   double *input)
{
    const phaselock_entity *own = NULL, *other = NULL;
    double nearest = HUGE_VAL;
    int32_t i;
    for (i = 0; i < count; i++)
        if (all[i].flags & PHASELOCK_OWN)
            own = &all[i];
    input[at->way_x] = input[at->way_y] = 0.0;
    if (!own)
        return;
    int is_it = own->fields[at->role] == ROLE_IT;
    for (i = 0; i < count; i++) {
        double dx = all[i].fields[at->x] - own->fields[at->x];
        double dy = all[i].fields[at->y] - own->fields[at->y];
        int counts = &all[i] != own && (is_it || all[i].fields[at->role] == ROLE_IT);
        if (counts && hypot(dx, dy) < nearest) {
            nearest = hypot(dx, dy);
            other = &all[i];
        }
    }
    double wx = -own->fields[at->x] / 15.0, wy = -own->fields[at->y] / 15.0;
    if (other) {
        double sign = is_it ? 1.0 : -1.0, reach = nearest > 0.1 ? nearest : 0.1;
        wx = (is_it ? 0.0 : wx) + sign * (other->fields[at->x] - own->fields[at->x]) / reach;
        wy = (is_it ? 0.0 : wy) + sign * (other->fields[at->y] - own->fields[at->y]) / reach;
    }
    double length = hypot(wx, wy);
    input[at->way_x] = length > 0.0 ? wx / length : 0.0;
    input[at->way_y] = length > 0.0 ? wy / length : 0.0;
}

static char *read_file(const char *path, size_t *length)
{
    size_t capacity = 1 << 20;
    char *text = (char *)malloc(capacity);
    FILE *file = fopen(path, "rb");
    if (!file || !text) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    *length = fread(text, 1, capacity, file);
    fclose(file);
    return text;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Prints what has happened. Returns the number of events of the rules: tags and shouts. */
static int print_events(phaselock_client client)
{
    phaselock_event event;
    int messages = 0;
    while (checked(phaselock_poll_event(client, &event), "poll_event")) {
        switch (event.kind) {
        case PHASELOCK_EVENT_MESSAGE:
            /* Postcard: 0 and the name of who is it now, or 1 and the player who shouts. */
            if (event.length > 1 && event.text[0] == 0)
                printf("%.*s is it\n", (int)event.length - 2, event.text + 2);
            else
                printf("a shout\n");
            messages++;
            break;
        case PHASELOCK_EVENT_CHAT: printf("chat of %d: %s\n", event.player, event.text); break;
        case PHASELOCK_EVENT_PLAYER_JOINED: printf("%s joined\n", event.text); break;
        case PHASELOCK_EVENT_PLAYER_LEFT: printf("%s left\n", event.text); break;
        case PHASELOCK_EVENT_GAME: printf("a game on %s\n", event.text); break;
        case PHASELOCK_EVENT_LOST:
        case PHASELOCK_EVENT_ENDED: printf("over (%d): %s\n", event.code, event.text); break;
        default: break;
        }
    }
    return messages;
}

static void summarize(phaselock_client client, int entities, int messages, double way)
{
    phaselock_status status;
    phaselock_player players[ENTITIES_MAX];
    int32_t count = checked(phaselock_players(client, players, ENTITIES_MAX), "players"), i;
    checked(phaselock_get_status(client, &status), "get_status");
    for (i = 0; i < count && i < ENTITIES_MAX; i++)
        printf("player %d: %s%s%s\n", players[i].id, players[i].name,
               players[i].flags & PHASELOCK_BOT ? ", a bot" : "",
               players[i].flags & PHASELOCK_SELF ? ", me" : "");
    printf("{\"frames\": %llu, \"snapshots\": %llu, \"ticks\": %llu, \"entities\": %d, "
           "\"players\": %d, \"messages\": %d, \"metres\": %.1f, \"round_trip_ms\": %.1f, "
           "\"late\": %llu, \"mispredictions\": %llu, \"unexplained\": %llu}\n",
           (unsigned long long)status.frames, (unsigned long long)status.snapshots,
           (unsigned long long)status.ticks, entities, count, messages, way, status.round_trip_ms,
           (unsigned long long)status.late_inputs, (unsigned long long)status.mispredictions,
           (unsigned long long)status.unexplained);
}

static phaselock_game load(const char *path, struct fields *at)
{
    phaselock_game game;
    size_t length;
    char *text = read_file(path, &length);
    checked(phaselock_load_game(text, length, &game), path);
    free(text);
    int32_t runner = checked(phaselock_kind(game, "Runner"), "Runner");
    at->x = checked(phaselock_field(game, runner, "position.x"), "position.x");
    at->y = checked(phaselock_field(game, runner, "position.y"), "position.y");
    at->vx = checked(phaselock_field(game, runner, "velocity.x"), "velocity.x");
    at->vy = checked(phaselock_field(game, runner, "velocity.y"), "velocity.y");
    at->role = checked(phaselock_field(game, runner, "role"), "role");
    at->score = checked(phaselock_field(game, runner, "score"), "score");
    at->way_x = checked(phaselock_field(game, PHASELOCK_INPUT, "way.x"), "way.x");
    at->way_y = checked(phaselock_field(game, PHASELOCK_INPUT, "way.y"), "way.y");
    return game;
}

/* Plays for some seconds after joining. Returns whether the server still had us at the end. */
static int play(phaselock_client client, const struct fields *at, double seconds)
{
    static const uint8_t SHOUT[] = {0}; /* Postcard: the first variant of `Ask`. */
    phaselock_entity all[ENTITIES_MAX];
    double input[PHASELOCK_FIELDS_MAX] = {0}, until = 0.0, printed = 0.0, way = 0.0;
    double last_x = 0.0, last_y = 0.0, give_up = now() + 60.0;
    int messages = 0, entities = 0, has_last = 0, has_shouted = 0;
    int32_t state = PHASELOCK_JOINING, i;
    while (until == 0.0 ? now() < give_up : now() < until) {
        state = checked(phaselock_frame(client, input, 2), "frame");
        messages += print_events(client);
        if (state == PHASELOCK_ENDED)
            return 0;
        if (state == PHASELOCK_PLAYING && until == 0.0)
            until = now() + seconds;
        int32_t count = checked(phaselock_entities(client, all, ENTITIES_MAX), "entities");
        count = count < ENTITIES_MAX ? count : ENTITIES_MAX;
        entities = count > entities ? count : entities;
        decide(at, all, count, input);
        if (count > 0 && !has_shouted)
            has_shouted = phaselock_request(client, SHOUT, sizeof SHOUT) == 0;
        for (i = 0; i < count; i++) {
            const double *fields = all[i].fields;
            if (all[i].flags & PHASELOCK_PREDICTED) {
                way += has_last ? hypot(fields[at->x] - last_x, fields[at->y] - last_y) : 0.0;
                last_x = fields[at->x], last_y = fields[at->y], has_last = 1;
            }
            if (now() >= printed + 1.0)
                printf("  %s%s of %d at %6.2f %6.2f, score %.0f\n",
                       all[i].flags & PHASELOCK_OWN ? "* " : "  ",
                       fields[at->role] == ROLE_IT ? "hunter" : "runner", all[i].owner,
                       fields[at->x], fields[at->y], fields[at->score]);
        }
        if (count > 0 && now() >= printed + 1.0)
            printed = now();
        struct timespec pause = {0, 8 * 1000 * 1000};
        nanosleep(&pause, NULL);
    }
    summarize(client, entities, messages, way);
    return state == PHASELOCK_PLAYING;
}

int main(int argc, char **argv)
{
    struct fields at;
    phaselock_options options;
    phaselock_client client;
    if (argc < 3) {
        fprintf(stderr, "usage: %s SERVER DESCRIPTION [SECONDS [NAME]]\n", argv[0]);
        return EXIT_FAILURE;
    }
    if (phaselock_abi() != PHASELOCK_ABI) {
        fprintf(stderr, "the library has another interface than the header\n");
        return EXIT_FAILURE;
    }
    memset(&options, 0, sizeof options);
    options.abi = PHASELOCK_ABI;
    options.game = load(argv[2], &at);
    options.server = argv[1];
    options.name = argc > 4 ? argv[4] : "C";
    options.predict = predict;
    options.user = &at;
    checked(phaselock_connect(&options, &client), "connect");
    int ok = play(client, &at, argc > 3 ? atof(argv[3]) : 10.0);
    checked(phaselock_close(client, "that was enough"), "close");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
