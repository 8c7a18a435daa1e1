//! Requests and answers of the administration: the interface over HTTP and [`ctl`](crate::ctl)
//! share these types, so a field that is renamed on one side does not compile on the other.

mod events;
mod requests;
mod views;

pub use events::{AuditEvent, HostEvent, NumberView};
pub use requests::{
    Again, Allow, AuditPart, BackUp, Count, Drain, GiveRole, Kick, Lift, Limit, Lines, LogLevel,
    MakeToken, OfGame, Play, Punish, Say, SetSetting, Tell,
};
pub use views::{
    AllowListView, AllowedView, AuditRow, BackedUp, ChatView, DenyListView, DirectoryView, Done,
    DrainView, FailedLoginsView, Figures, LeftView, LineView, LogView, Me, MuteView, NewToken,
    PlayerResult, PlayerView, Problem, RecordRow, ReloadReport, ResultRow, RoleView, RoomView,
    ScoreView, SentenceView, SettingChange, SettingView, StatusView, TickView, TokenView,
    TrafficView, WebhookTest,
};
