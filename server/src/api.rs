//! Requests and answers of the administration API. The HTTP side and [`ctl`](crate::ctl) share
//! these types, so renaming a field on one side only does not compile.

mod events;
mod requests;
mod views;

pub(crate) use events::{AuditEvent, HostEvent, NumberView};
pub(crate) use requests::{
    Allow, AuditPart, BackUp, Count, Drain, GiveRole, Kick, Lift, Limit, Lines, LogLevel,
    MakeToken, MarkMoment, OfGame, Play, Punish, ReplayPart, RestartGame, SaveReplay, Say,
    SetSetting, Tell,
};
pub(crate) use views::{
    AllowListView, AllowedView, AuditRow, BackedUp, ChatView, DenyListView, DirectoryView, Done,
    DrainView, FailedLoginsView, Figures, LeftView, LineView, LogView, Me, MuteView, NewToken,
    PlayerResult, PlayerView, Problem, RecordRow, ReloadReport, ReplayView, ResultRow, RoleView,
    RoomView, ScoreView, SentenceView, SettingChange, SettingView, StatusView, TickView, TokenView,
    TrafficView, WebhookTest,
};
