//! What the square and its runners look like.

use bevy::camera::ScalingMode;
use bevy::prelude::*;
use tag::{Role, Runner};

/// Minimum width and height that the window shows, in metres.
const SHOWN: Vec2 = Vec2::new(28.0, 21.0);
/// Half the side of the square, in metres: Tag's default. A server may have another one.
const HALF: f32 = 15.0;
/// Pixels of text per metre.
const TEXT: f32 = 40.0;
/// Time for which a line of news stays, in seconds.
const NEWS_SECS: f32 = 2.5;

/// A runner of the picture, as an entity of Bevy.
#[derive(Component)]
pub(crate) struct Body {
    /// The child that shows the player's name.
    pub(crate) label: Entity,
}

/// Meshes and materials.
#[derive(Resource)]
pub(crate) struct Look {
    body: Handle<Mesh>,
    own: Handle<ColorMaterial>,
    foe: Handle<ColorMaterial>,
    it: Handle<ColorMaterial>,
    dazed: Handle<ColorMaterial>,
}

impl Look {
    /// Returns the color of a runner.
    pub(crate) fn color(&self, runner: &Runner, is_own: bool) -> Handle<ColorMaterial> {
        let color = match runner.role {
            Role::It if runner.daze > 0 => &self.dazed,
            Role::It => &self.it,
            Role::Free if is_own => &self.own,
            Role::Free => &self.foe,
        };
        color.clone()
    }

    /// Spawns a runner, as yet without a name.
    pub(crate) fn spawn(
        &self,
        commands: &mut Commands<'_, '_>,
        at: Vec2,
        color: Handle<ColorMaterial>,
    ) -> Entity {
        let above = Transform::from_xyz(0.0, 0.9, 1.0).with_scale(Vec3::splat(1.0 / TEXT));
        let label = commands.spawn((Text2d::default(), above)).id();
        let shape = (Mesh2d(self.body.clone()), MeshMaterial2d(color));
        let place = Transform::from_translation(at.extend(1.0));
        commands.spawn((Body { label }, shape, place)).add_child(label).id()
    }
}

/// The newest line of news, and its age in seconds.
#[derive(Default, Resource)]
pub(crate) struct News {
    line: String,
    age: f32,
}

impl News {
    pub(crate) fn say(&mut self, line: String) {
        println!("{line}");
        (self.line, self.age) = (line, 0.0);
    }
}

#[derive(Component)]
struct NewsLine;

pub(crate) fn plugin(app: &mut App) {
    app.init_resource::<News>().add_systems(Startup, set_up).add_systems(Update, show_news);
}

fn set_up(
    mut commands: Commands<'_, '_>,
    mut meshes: ResMut<'_, Assets<Mesh>>,
    mut materials: ResMut<'_, Assets<ColorMaterial>>,
) {
    let scaling_mode = ScalingMode::AutoMin { min_width: SHOWN.x, min_height: SHOWN.y };
    let projection =
        OrthographicProjection { scaling_mode, ..OrthographicProjection::default_2d() };
    let line = Transform::from_xyz(0.0, 0.4 * SHOWN.y, -1.0).with_scale(Vec3::splat(1.5 / TEXT));
    let line = (Text2d::default(), NewsLine, line);
    commands.spawn((Camera2d, Projection::Orthographic(projection), children![line]));
    let mut color = |color: Color| materials.add(ColorMaterial::from(color));
    let look = Look {
        body: meshes.add(Circle::new(0.5)),
        own: color(Color::srgb(0.35, 0.8, 1.0)),
        foe: color(Color::srgb(0.8, 0.8, 0.75)),
        it: color(Color::srgb(1.0, 0.35, 0.3)),
        dazed: color(Color::srgb(0.6, 0.3, 0.3)),
    };
    let (floor, grid) = (color(Color::srgb(0.1, 0.12, 0.16)), color(Color::srgb(0.15, 0.17, 0.22)));
    commands.spawn((
        Mesh2d(meshes.add(Rectangle::from_length(2.0 * HALF))),
        MeshMaterial2d(floor),
        Transform::from_xyz(0.0, 0.0, -2.0),
    ));
    let (rows, columns) = (Rectangle::new(2.0 * HALF, 0.04), Rectangle::new(0.04, 2.0 * HALF));
    for (mesh, along) in [(meshes.add(rows), Vec3::Y), (meshes.add(columns), Vec3::X)] {
        for metre in (1..(2.0 * HALF) as i32).map(|metre| metre as f32 - HALF) {
            let at = Transform::from_translation(along * metre + Vec3::NEG_Z);
            commands.spawn((Mesh2d(mesh.clone()), MeshMaterial2d(grid.clone()), at));
        }
    }
    commands.insert_resource(look);
}

fn show_news(
    mut news: ResMut<'_, News>,
    time: Res<'_, Time>,
    mut line: Single<'_, '_, &mut Text2d, With<NewsLine>>,
) {
    news.age += time.delta_secs();
    let shown = if news.age < NEWS_SECS { &*news.line } else { "" };
    if line.0 != shown {
        line.0 = shown.to_owned();
    }
}
