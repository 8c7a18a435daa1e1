//! The administrator's page: files without inline code or style, as its policy requires.

use axum::Router;
use axum::http::{HeaderValue, header};
use axum::routing::get;

/// Content security policy of the page: only its own files and requests to this server are allowed,
/// and no other page may frame it.
pub(super) const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; \
    connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// Path, content type and content of each file.
const FILES: [(&str, &str, &str); 3] = [
    ("/", "text/html; charset=utf-8", include_str!("page/index.html")),
    ("/page.css", "text/css; charset=utf-8", include_str!("page/page.css")),
    ("/page.js", "text/javascript; charset=utf-8", include_str!("page/page.js")),
];

/// Returns the routes of the page's files.
pub(super) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    FILES.into_iter().fold(Router::new(), |router, (path, kind, content)| {
        let kind = (header::CONTENT_TYPE, HeaderValue::from_static(kind));
        let policy = (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
        router.route(path, get(move || async move { ([kind, policy], content) }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Attributes of all tags in a page, with their values.
    fn attributes(page: &str) -> Vec<&str> {
        let tags = page.split('<').skip(1).filter_map(|it| it.split_once('>'));
        let tags = tags.filter(|(tag, _)| !tag.starts_with("!--"));
        tags.flat_map(|(tag, _)| tag.split_whitespace().skip(1)).collect()
    }

    #[test]
    fn the_page_has_no_inline_code_or_style() {
        assert!(!POLICY.contains("unsafe"), "{POLICY}");
        let (_, _, page) = FILES[0];
        assert!(!page.contains("<style") && !page.contains("<script>"), "inline code or style");
        let all = attributes(page);
        assert!(all.len() > 200, "the page was not read");
        for attribute in all {
            let is_inline = attribute.starts_with("style=") || attribute.starts_with("on");
            assert!(!is_inline, "{attribute} is inline code or style");
            if let Some(source) = attribute.strip_prefix("src=\"") {
                let path = format!("/{}", source.trim_end_matches('"'));
                assert!(FILES.iter().any(|(it, ..)| *it == path), "nothing serves {path}");
            }
        }
    }
}
