//! Shaders of the window, in keywords that each version of the shading language spells differently.

use macroquad::miniquad::{GlslSupport, ShaderMeta, UniformBlockLayout, UniformDesc, UniformType};

pub(super) const VERTEX: &str = "
    uniform vec2 u_screen_points;
    ATTRIBUTE vec2 a_position;
    ATTRIBUTE vec2 a_texel;
    ATTRIBUTE vec4 a_color;
    OUTPUT vec2 v_texel;
    OUTPUT vec4 v_color;
    void main() {
        vec2 share = a_position / u_screen_points;
        gl_Position = vec4(2.0 * share.x - 1.0, 1.0 - 2.0 * share.y, 0.0, 1.0);
        v_texel = a_texel;
        v_color = a_color / 255.0;
    }";

/// Shader for colours only.
pub(super) const COLORS: &str = "
    precision mediump float;
    INPUT vec4 v_color;
    TARGET
    void main() {
        FRAGMENT = v_color;
    }";

/// Shader for colours times a texture.
pub(super) const TEXTURE: &str = "
    precision highp float;
    uniform sampler2D u_texture;
    INPUT vec2 v_texel;
    INPUT vec4 v_color;
    TARGET
    void main() {
        FRAGMENT = v_color * TEXEL(u_texture, v_texel);
    }";

/// A version of the shading language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// A desktop version, by its number. It can interpolate between corners without perspective,
    /// which would cost a division per pixel.
    Desktop(u16),
    /// Version 1.00, which is supported everywhere.
    Everywhere,
}

impl Dialect {
    pub(super) fn of(glsl: &GlslSupport) -> Self {
        match glsl {
            GlslSupport { v330: true, .. } => Self::Desktop(330),
            GlslSupport { v150: true, .. } => Self::Desktop(150),
            GlslSupport { v130: true, .. } => Self::Desktop(130),
            _ => Self::Everywhere,
        }
    }

    /// Source of a shader in this version.
    pub(super) fn source(self, body: &str) -> String {
        let (version, words) = match self {
            Self::Desktop(version) => (
                version,
                [
                    ("ATTRIBUTE", "in"),
                    ("OUTPUT", "noperspective out"),
                    ("INPUT", "noperspective in"),
                    ("TARGET", "out vec4 o_color;"),
                    ("FRAGMENT", "o_color"),
                    ("TEXEL", "texture"),
                ],
            ),
            Self::Everywhere => (
                100,
                [
                    ("ATTRIBUTE", "attribute"),
                    ("OUTPUT", "varying"),
                    ("INPUT", "varying"),
                    ("TARGET", ""),
                    ("FRAGMENT", "gl_FragColor"),
                    ("TEXEL", "texture2D"),
                ],
            ),
        };
        let put = |body: String, (word, own): (&str, &str)| body.replace(word, own);
        words.into_iter().fold(format!("#version {version}{body}"), put)
    }
}

pub(super) fn meta() -> ShaderMeta {
    let screen = UniformDesc::new("u_screen_points", UniformType::Float2);
    ShaderMeta {
        images: vec!["u_texture".to_owned()],
        uniforms: UniformBlockLayout { uniforms: vec![screen] },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_version_spells_every_word() {
        let desktops = [130, 150, 330].map(Dialect::Desktop);
        for dialect in desktops.into_iter().chain([Dialect::Everywhere]) {
            for body in [VERTEX, COLORS, TEXTURE] {
                let source = dialect.source(body);
                assert!(source.starts_with("#version "), "{source}");
                let ours = |word: &&str| word.len() > 1 && word.chars().all(|it| it.is_uppercase());
                let left = source.split(|it: char| !it.is_alphanumeric()).find(ours);
                assert_eq!(left, None, "{source}");
            }
        }
        let made = |glsl: GlslSupport| Dialect::of(&glsl);
        assert_eq!(made(GlslSupport { v330: true, ..Default::default() }), Dialect::Desktop(330));
        assert_eq!(made(GlslSupport { v150: true, ..Default::default() }), Dialect::Desktop(150));
        assert_eq!(made(GlslSupport { v130: true, ..Default::default() }), Dialect::Desktop(130));
        let newer = [VERTEX, TEXTURE].map(|body| Dialect::Desktop(330).source(body)).concat();
        assert_eq!(newer.matches("noperspective ").count(), 4, "two from each side");
        assert!(newer.contains("texture(u_texture") && !newer.contains("texture2D"));
        let old = GlslSupport { v100: true, ..GlslSupport::default() };
        assert_eq!(Dialect::of(&old), Dialect::Everywhere);
    }
}
