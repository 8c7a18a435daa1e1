//! The handlers: one function for each request.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::answers::answer;
use super::auth::Authenticated;
use super::download::body_of;
use super::metrics;
use super::requests::{Asked, Body, Named};
use crate::api::{
    Allow, AllowListView, AuditPart, AuditRow, BackUp, BackedUp, ChatView, Done, Drain, GiveRole,
    Kick, LeftView, Lift, Limit, LineView, Lines, LogLevel, MakeToken, MarkMoment, Me, NewToken,
    OfGame, Play, PlayerView, Problem, Punish, RecordRow, ReloadReport, ReplayPart, ReplayView,
    RestartGame, ResultRow, RoleView, SaveReplay, Say, SentenceView, SetSetting, SettingView,
    StatusView, Tell, TokenView, WebhookTest,
};
use crate::author::Right;
use crate::config::SettingValue;
use crate::error::ActError;
use crate::host::{Host, Whom};
use crate::logging::LogLine;
use crate::sentence::Act;
use crate::store::{audit_of, records_of, results_of};

type Answer<T> = Result<Json<T>, ActError>;
type AtHost = State<Arc<Host>>;

/// Returns the routes of all requests below `/v1`, except for the event stream.
pub(super) fn all() -> OpenApiRouter<Arc<Host>> {
    OpenApiRouter::new()
        .routes(routes!(me))
        .routes(routes!(status))
        .routes(routes!(players))
        .routes(routes!(left))
        .routes(routes!(kick))
        .routes(routes!(bans, ban, unban_all))
        .routes(routes!(unban))
        .routes(routes!(mutes, mute, unmute_all))
        .routes(routes!(unmute))
        .routes(routes!(allow_list, allow))
        .routes(routes!(disallow))
        .routes(routes!(chat))
        .routes(routes!(say))
        .routes(routes!(tell))
        .routes(routes!(game))
        .routes(routes!(round))
        .routes(routes!(drain, undrain))
        .routes(routes!(skip_restart))
        .routes(routes!(reload))
        .routes(routes!(config))
        .routes(routes!(set_setting, unset_setting))
        .routes(routes!(test_webhooks))
        .routes(routes!(log_level))
        .routes(routes!(log))
        .routes(routes!(roles, give_role))
        .routes(routes!(take_role))
        .routes(routes!(forget))
        .routes(routes!(tokens, make_token))
        .routes(routes!(drop_token))
        .routes(routes!(audit))
        .routes(routes!(results))
        .routes(routes!(records))
        .routes(routes!(backup))
        .routes(routes!(mark))
        .routes(routes!(replays, save_replay))
        .routes(routes!(replay, delete_replay))
}

fn done(text: impl Into<String>) -> Json<Done> {
    Json(Done { done: text.into() })
}

/// Shows the token that the request is made with.
#[utoipa::path(get, path = "/v1/me", responses((status = 200, body = Me)))]
pub(super) async fn me(Authenticated(by): Authenticated) -> Json<Me> {
    Json(Me { name: by.name, role: by.role })
}

/// Shows the state of the server and its rooms, at most a second old.
#[utoipa::path(get, path = "/v1/status", responses((status = 200, body = StatusView)))]
pub(super) async fn status(_: Authenticated, State(host): AtHost) -> Json<StatusView> {
    Json(host.status_now())
}

/// Lists all players with a seat, at most a second old.
#[utoipa::path(get, path = "/v1/players", responses((status = 200, body = Vec<PlayerView>)))]
pub(super) async fn players(_: Authenticated, State(host): AtHost) -> Json<Vec<PlayerView>> {
    Json(host.figures().borrow().players.clone())
}

/// Lists up to 256 players who have left since the start, the most recent first.
#[utoipa::path(get, path = "/v1/left", responses((status = 200, body = Vec<LeftView>)))]
pub(super) async fn left(_: Authenticated, State(host): AtHost) -> Json<Vec<LeftView>> {
    Json(host.left())
}

/// Kicks a player.
#[utoipa::path(post, path = "/v1/kick",
    request_body = Kick, responses((status = 200, body = Done)))]
pub(super) async fn kick(
    Authenticated(by): Authenticated,
    State(host): AtHost,
    Body(asked): Body<Kick>,
) -> Answer<Done> {
    Ok(done(host.kick(&by, &Whom::from(&asked), asked.span.as_deref(), &asked.reason).await?))
}

/// Returns an answer with one line for each thing that was done.
fn all_done(lines: &[String]) -> Json<Done> {
    done(lines.join("\n"))
}

fn sentences(host: &Host, act: Act) -> Json<Vec<SentenceView>> {
    Json(host.access.sentences(act, host.clocks.unix()).iter().map(SentenceView::from).collect())
}

/// Lists the bans in force.
#[utoipa::path(get, path = "/v1/bans", responses((status = 200, body = Vec<SentenceView>)))]
pub(super) async fn bans(_: Authenticated, State(host): AtHost) -> Json<Vec<SentenceView>> {
    sentences(&host, Act::Ban)
}

/// Bans a player, a key, an address or a network.
#[utoipa::path(post, path = "/v1/bans", request_body = Punish,
    responses((status = 200, body = Vec<SentenceView>)))]
pub(super) async fn ban(
    Authenticated(by): Authenticated,
    State(host): AtHost,
    Body(asked): Body<Punish>,
) -> Answer<Vec<SentenceView>> {
    let (made, _, written) = host.punish(&by, Act::Ban, &asked).await?;
    Ok(Json(made.iter().map(|it| SentenceView::made(it, written)).collect()))
}

/// Lifts a ban.
#[utoipa::path(delete, path = "/v1/bans/{id}",
    params(("id" = i64, Path, description = "Number of the ban or mute")),
    responses((status = 200, body = Done)))]
pub(super) async fn unban(
    Authenticated(by): Authenticated,
    State(host): AtHost,
    Named(id): Named<i64>,
) -> Answer<Done> {
    Ok(done(host.lift(&by, Act::Ban, id).await?))
}

/// Lifts all bans of a player, a key, an address or a network.
#[utoipa::path(delete, path = "/v1/bans", params(Lift), responses((status = 200, body = Done)))]
pub(super) async fn unban_all(
    Authenticated(by): Authenticated,
    State(host): AtHost,
    Asked(asked): Asked<Lift>,
) -> Answer<Done> {
    Ok(all_done(&host.lift_all(&by, Act::Ban, &asked.into()).await?))
}

/// Lists the mutes in force.
#[utoipa::path(get, path = "/v1/mutes", responses((status = 200, body = Vec<SentenceView>)))]
pub(super) async fn mutes(_: Authenticated, State(host): AtHost) -> Json<Vec<SentenceView>> {
    sentences(&host, Act::Mute)
}

/// Mutes a player, a key, an address or a network.
#[utoipa::path(post, path = "/v1/mutes", request_body = Punish,
    responses((status = 200, body = Vec<SentenceView>)))]
pub(super) async fn mute(
    Authenticated(by): Authenticated,
    State(host): AtHost,
    Body(asked): Body<Punish>,
) -> Answer<Vec<SentenceView>> {
    let (made, _, written) = host.punish(&by, Act::Mute, &asked).await?;
    Ok(Json(made.iter().map(|it| SentenceView::made(it, written)).collect()))
}

/// Lifts a mute.
#[utoipa::path(delete, path = "/v1/mutes/{id}",
    params(("id" = i64, Path, description = "Number of the ban or mute")),
    responses((status = 200, body = Done)))]
pub(super) async fn unmute(
    Authenticated(by): Authenticated,
    State(host): AtHost,
    Named(id): Named<i64>,
) -> Answer<Done> {
    Ok(done(host.lift(&by, Act::Mute, id).await?))
}

/// Lifts all mutes of a player, a key, an address or a network.
#[utoipa::path(delete, path = "/v1/mutes", params(Lift), responses((status = 200, body = Done)))]
pub(super) async fn unmute_all(
    Authenticated(by): Authenticated,
    State(host): AtHost,
    Asked(asked): Asked<Lift>,
) -> Answer<Done> {
    Ok(all_done(&host.lift_all(&by, Act::Mute, &asked.into()).await?))
}

/// Shows the allow list: the players who may join.
#[utoipa::path(get, path = "/v1/allow-list", responses((status = 200, body = AllowListView)))]
pub(super) async fn allow_list(_: Authenticated, State(host): AtHost) -> Json<AllowListView> {
    Json(host.allow_list())
}

/// Adds a key to the allow list's file.
#[utoipa::path(post, path = "/v1/allow-list", request_body = Allow,
    responses((status = 200, body = Done)))]
pub(super) async fn allow(
    Authenticated(by): Authenticated,
    State(host): AtHost,
    Body(asked): Body<Allow>,
) -> Answer<Done> {
    Ok(done(host.allow(&by, &asked.key, &asked.name).await?))
}

/// Removes a key from the allow list, without kicking the player.
#[utoipa::path(delete, path = "/v1/allow-list/{key}",
    params(("key" = String, Path, description = "64 hexadecimal digits",
        pattern = "^[0-9a-fA-F]{64}$")),
    responses((status = 200, body = Done)))]
pub(super) async fn disallow(
    Authenticated(by): Authenticated,
    State(host): AtHost,
    Named(key): Named<String>,
) -> Answer<Done> {
    Ok(done(host.disallow(&by, &key).await?))
}

/// Lists the newest chat lines, oldest first. The server remembers up to 200.
#[utoipa::path(get, path = "/v1/chat",
    params(Lines), responses((status = 200, body = Vec<ChatView>)))]
pub(super) async fn chat(
    _: Authenticated,
    State(host): AtHost,
    Asked(asked): Asked<Lines>,
) -> Json<Vec<ChatView>> {
    Json(host.chat(asked.count()))
}

/// Sends a chat line to everyone.
#[utoipa::path(post, path = "/v1/say", request_body = Say, responses((status = 200, body = Done)))]
pub(super) async fn say(
    Authenticated(by): Authenticated,
    State(host): AtHost,
    Body(asked): Body<Say>,
) -> Answer<Done> {
    Ok(done(host.say(&by, &asked.text, asked.room.as_deref()).await?))
}

/// Sends a chat line to one player.
#[utoipa::path(post, path = "/v1/tell",
    request_body = Tell, responses((status = 200, body = Done)))]
pub(super) async fn tell(
    Authenticated(by): Authenticated,
    State(host): AtHost,
    Body(asked): Body<Tell>,
) -> Answer<Done> {
    Ok(done(host.send_line_to(&by, &Whom::from(&asked), &asked.text).await?))
}

/// Switches to another game now.
#[utoipa::path(post, path = "/v1/game",
    request_body = Play, responses((status = 200, body = Done)))]
pub(super) async fn game(
    Authenticated(by): Authenticated,
    State(host): AtHost,
    Body(asked): Body<Play>,
) -> Answer<Done> {
    Ok(done(host.play(&by, Some(&asked.game), asked.room.as_deref()).await?))
}

/// Restarts the current game.
#[utoipa::path(post, path = "/v1/round",
    request_body = RestartGame, responses((status = 200, body = Done)))]
pub(super) async fn round(
    Authenticated(by): Authenticated,
    State(host): AtHost,
    Body(asked): Body<RestartGame>,
) -> Answer<Done> {
    Ok(done(host.play(&by, None, asked.room.as_deref()).await?))
}

/// Lets no one join, and stops the server at the end of the round or when the time is up.
#[utoipa::path(post, path = "/v1/drain",
    request_body = Drain, responses((status = 200, body = Done)))]
pub(super) async fn drain(
    Authenticated(by): Authenticated,
    State(host): AtHost,
    Body(asked): Body<Drain>,
) -> Answer<Done> {
    Ok(done(host.drain(&by, &asked).await?))
}

/// Cancels a drain.
#[utoipa::path(delete, path = "/v1/drain", responses((status = 200, body = Done)))]
pub(super) async fn undrain(Authenticated(by): Authenticated, State(host): AtHost) -> Answer<Done> {
    Ok(done(host.undrain(&by).await?))
}

/// Skips the next scheduled restart.
#[utoipa::path(delete, path = "/v1/restart", responses((status = 200, body = Done)))]
pub(super) async fn skip_restart(
    Authenticated(by): Authenticated,
    State(host): AtHost,
) -> Answer<Done> {
    Ok(done(host.skip_restart(&by).await?))
}

/// Reloads the settings: all of them or, if any is invalid, none.
#[utoipa::path(post, path = "/v1/reload", responses((status = 200, body = ReloadReport),
    (status = 422, description = "The settings are invalid", body = Problem)))]
pub(super) async fn reload(
    Authenticated(by): Authenticated,
    State(host): AtHost,
) -> Answer<ReloadReport> {
    Ok(Json(host.reload(&by).await?))
}

/// Lists all settings with their values and where these come from.
#[utoipa::path(get, path = "/v1/config", responses((status = 200, body = Vec<SettingView>)))]
pub(super) async fn config(
    Authenticated(by): Authenticated,
    State(host): AtHost,
) -> Answer<Vec<SettingView>> {
    by.needs(Right::Look)?;
    let view =
        |it: SettingValue| SettingView { setting: it.setting, value: it.value, origin: it.origin };
    Ok(Json(host.reloader.list().await.into_iter().map(view).collect()))
}

/// Changes the log filter.
#[utoipa::path(put, path = "/v1/log-level", request_body = LogLevel,
    responses((status = 200, body = Done)))]
pub(super) async fn log_level(
    Authenticated(by): Authenticated,
    State(host): AtHost,
    Body(asked): Body<LogLevel>,
) -> Answer<Done> {
    Ok(done(host.set_log_level(&by, &asked.filter).await?))
}

/// Changes a setting until the server stops. A reload keeps the new value.
#[utoipa::path(put, path = "/v1/settings/{name}",
    params(("name" = String, Path, description = "Name of the setting, as in the file")),
    request_body = SetSetting, responses((status = 200, body = Done)))]
pub(super) async fn set_setting(
    Authenticated(by): Authenticated,
    State(host): AtHost,
    Named(name): Named<String>,
    Body(asked): Body<SetSetting>,
) -> Answer<Done> {
    Ok(done(host.set_setting(&by, &name, Some(&asked.value)).await?))
}

/// Resets a setting to its value from the file, the environment or the command line.
#[utoipa::path(delete, path = "/v1/settings/{name}",
    params(("name" = String, Path, description = "Name of the setting, as in the file")),
    responses((status = 200, body = Done)))]
pub(super) async fn unset_setting(
    Authenticated(by): Authenticated,
    State(host): AtHost,
    Named(name): Named<String>,
) -> Answer<Done> {
    Ok(done(host.set_setting(&by, &name, None).await?))
}

/// Sends a test event to every webhook.
#[utoipa::path(post, path = "/v1/webhooks/test",
    responses((status = 200, body = Vec<WebhookTest>)))]
pub(super) async fn test_webhooks(
    Authenticated(by): Authenticated,
    State(host): AtHost,
) -> Answer<Vec<WebhookTest>> {
    Ok(Json(host.test_webhooks(&by).await?))
}

impl From<&LogLine> for LineView {
    fn from(line: &LogLine) -> Self {
        Self {
            time: line.time_unix_millis,
            level: line.level.to_string(),
            target: line.target.to_string(),
            text: line.text.to_string(),
        }
    }
}

/// Lists the newest lines of the log, oldest first.
#[utoipa::path(get, path = "/v1/log",
    params(Lines), responses((status = 200, body = Vec<LineView>)))]
pub(super) async fn log(
    _: Authenticated,
    State(host): AtHost,
    Asked(asked): Asked<Lines>,
) -> Json<Vec<LineView>> {
    let lines = host.log.recent(asked.count());
    Json(lines.iter().map(LineView::from).collect())
}

/// Lists the roles of players.
#[utoipa::path(get, path = "/v1/roles", responses((status = 200, body = Vec<RoleView>)))]
pub(super) async fn roles(_: Authenticated, State(host): AtHost) -> Json<Vec<RoleView>> {
    Json(host.access.roles().into_iter().map(|(key, given)| RoleView::of(key, given)).collect())
}

/// Gives a player a role.
#[utoipa::path(post, path = "/v1/roles", request_body = GiveRole,
    responses((status = 200, body = Done)))]
pub(super) async fn give_role(
    Authenticated(by): Authenticated,
    State(host): AtHost,
    Body(asked): Body<GiveRole>,
) -> Answer<Done> {
    let GiveRole { who, key, room, role } = asked;
    let whom = who.map(|who| Whom { who, room });
    let text = host.set_role(&by, whom.as_ref(), key.as_deref(), Some(role)).await?;
    Ok(done(text))
}

/// Removes a player's role.
#[utoipa::path(delete, path = "/v1/roles/{key}",
    params(("key" = String, Path, description = "64 hexadecimal digits",
        pattern = "^[0-9a-fA-F]{64}$")),
    responses((status = 200, body = Done)))]
pub(super) async fn take_role(
    Authenticated(by): Authenticated,
    State(host): AtHost,
    Named(key): Named<String>,
) -> Answer<Done> {
    Ok(done(host.set_role(&by, None, Some(&key), None).await?))
}

/// Deletes all results, records and totals of a player.
#[utoipa::path(delete, path = "/v1/people/{key}",
    params(("key" = String, Path, description = "64 hexadecimal digits",
        pattern = "^[0-9a-fA-F]{64}$")),
    responses((status = 200, body = Done)))]
pub(super) async fn forget(
    Authenticated(by): Authenticated,
    State(host): AtHost,
    Named(key): Named<String>,
) -> Answer<Done> {
    Ok(done(host.forget(&by, &key).await?))
}

/// Lists all tokens, without their secrets.
#[utoipa::path(get, path = "/v1/tokens", responses((status = 200, body = Vec<TokenView>)))]
pub(super) async fn tokens(
    Authenticated(by): Authenticated,
    State(host): AtHost,
) -> Answer<Vec<TokenView>> {
    by.needs(Right::Manage)?;
    let view = |(name, role, made)| TokenView { name, role, made };
    Ok(Json(host.access.tokens().into_iter().map(view).collect()))
}

/// Creates or replaces a token.
#[utoipa::path(post, path = "/v1/tokens", request_body = MakeToken,
    responses((status = 200, body = NewToken)))]
pub(super) async fn make_token(
    Authenticated(by): Authenticated,
    State(host): AtHost,
    Body(asked): Body<MakeToken>,
) -> Answer<NewToken> {
    let token = host.make_token(&by, &asked.name, asked.role).await?;
    Ok(Json(NewToken { token }))
}

/// Deletes a token.
#[utoipa::path(delete, path = "/v1/tokens/{name}",
    params(("name" = String, Path, description = "Name of the token")),
    responses((status = 200, body = Done)))]
pub(super) async fn drop_token(
    Authenticated(by): Authenticated,
    State(host): AtHost,
    Named(name): Named<String>,
) -> Answer<Done> {
    Ok(done(host.drop_token(&by, &name).await?))
}

/// Lists the lines of the audit log, newest first.
#[utoipa::path(get, path = "/v1/audit", params(AuditPart),
    responses((status = 200, body = Vec<AuditRow>)))]
pub(super) async fn audit(
    Authenticated(by): Authenticated,
    State(host): AtHost,
    Asked(asked): Asked<AuditPart>,
) -> Answer<Vec<AuditRow>> {
    by.needs(Right::Order)?;
    let limit = asked.limit.map_or(100, |limit| limit.0);
    Ok(Json(host.store.read(move |db| audit_of(db, asked.before, limit)).await?))
}

/// Lists the results of rounds, newest first.
#[utoipa::path(get, path = "/v1/results", params(Limit),
    responses((status = 200, body = Vec<ResultRow>)))]
pub(super) async fn results(
    _: Authenticated,
    State(host): AtHost,
    Asked(asked): Asked<Limit>,
) -> Answer<Vec<ResultRow>> {
    let limit = asked.limit.map_or(50, |limit| limit.0);
    Ok(Json(host.store.read(move |db| results_of(db, limit)).await?))
}

/// Lists the best scores of each player.
#[utoipa::path(get, path = "/v1/records", params(OfGame),
    responses((status = 200, body = Vec<RecordRow>)))]
pub(super) async fn records(
    _: Authenticated,
    State(host): AtHost,
    Asked(asked): Asked<OfGame>,
) -> Answer<Vec<RecordRow>> {
    Ok(Json(host.store.read(move |db| records_of(db, asked.game.as_deref())).await?))
}

/// Copies the database to a new file in the data directory, while it is in use.
#[utoipa::path(post, path = "/v1/backup", request_body = BackUp,
    responses((status = 200, body = BackedUp)))]
pub(super) async fn backup(
    Authenticated(by): Authenticated,
    State(host): AtHost,
    Body(asked): Body<BackUp>,
) -> Answer<BackedUp> {
    let (done, bytes) = host.backup(&by, &asked.file).await?;
    Ok(Json(BackedUp { done, bytes }))
}

/// Marks this moment in the recordings. The answer names rooms of which no file is being written,
/// and why.
#[utoipa::path(post, path = "/v1/mark",
    request_body = MarkMoment, responses((status = 200, body = Done)))]
pub(super) async fn mark(
    Authenticated(by): Authenticated,
    State(host): AtHost,
    Body(asked): Body<MarkMoment>,
) -> Answer<Done> {
    Ok(done(host.mark(&by, &asked.text, asked.room.as_deref()).await?))
}

/// Lists finished recordings, newest first.
#[utoipa::path(get, path = "/v1/replays", params(ReplayPart),
    responses((status = 200, body = Vec<ReplayView>)))]
pub(super) async fn replays(
    _: Authenticated,
    State(host): AtHost,
    Asked(ReplayPart { limit, skip }): Asked<ReplayPart>,
) -> Answer<Vec<ReplayView>> {
    let limit = limit.map_or(50, |limit| limit.0);
    Ok(Json(host.replays(skip.unwrap_or(0) as usize, limit as usize).await?))
}

/// Writes the last five minutes of rooms that are recorded in memory only to files. A file from a
/// running round is listed after the round ends.
#[utoipa::path(post, path = "/v1/replays",
    request_body = SaveReplay, responses((status = 200, body = Done)))]
pub(super) async fn save_replay(
    Authenticated(by): Authenticated,
    State(host): AtHost,
    Body(asked): Body<SaveReplay>,
) -> Answer<Done> {
    Ok(done(host.save_replay(&by, asked.room.as_deref()).await?))
}

/// Downloads a finished recording.
#[utoipa::path(get, path = "/v1/replays/{file}",
    params(("file" = String, Path, description = "Name of the file")),
    responses((status = 200, content_type = "application/octet-stream")))]
pub(super) async fn replay(
    Authenticated(by): Authenticated,
    State(host): AtHost,
    Named(file): Named<String>,
) -> Result<Response, ActError> {
    let (opened, bytes) = host.open_replay(&by, &file).await?;
    let head = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (header::CONTENT_LENGTH, bytes.to_string()),
    ];
    Ok((head, body_of(opened)).into_response())
}

/// Deletes a finished recording.
#[utoipa::path(delete, path = "/v1/replays/{file}",
    params(("file" = String, Path, description = "Name of the file")),
    responses((status = 200, body = Done)))]
pub(super) async fn delete_replay(
    Authenticated(by): Authenticated,
    State(host): AtHost,
    Named(file): Named<String>,
) -> Answer<Done> {
    Ok(done(host.delete_replay(&by, &file).await?))
}

/// Answers 200 while all rooms are ticking.
pub(super) async fn livez(State(host): AtHost) -> Response {
    match host.handle.is_ticking() {
        true => (StatusCode::OK, "all rooms are ticking\n").into_response(),
        false => answer(StatusCode::SERVICE_UNAVAILABLE, "a room thread is stalled"),
    }
}

/// Answers 200 while players can join, and Agones, if it is on, can send them here.
pub(super) async fn readyz(State(host): AtHost) -> Response {
    let problem = host.agones_state().and_then(|state| state.problem);
    let text = if !host.handle.is_ticking() {
        "a room thread is stalled"
    } else if host.handle.draining().is_some() {
        "the server is draining"
    } else if let Some(problem) = &problem {
        problem
    } else {
        return (StatusCode::OK, "players can join\n").into_response();
    };
    answer(StatusCode::SERVICE_UNAVAILABLE, text)
}

/// Returns metrics for Prometheus, in the format that the client prefers.
pub(super) async fn metrics(headers: HeaderMap, State(host): AtHost) -> Response {
    let accept = headers.get_all(header::ACCEPT).iter();
    let format = metrics::Format::preferred(accept.filter_map(|it| it.to_str().ok()));
    let kind = [(header::CONTENT_TYPE, format.content_type()), (header::VARY, "Accept")];
    match metrics::text(&host, format) {
        Ok(text) => (kind, text).into_response(),
        Err(error) => answer(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
    }
}
