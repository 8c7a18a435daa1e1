//! A search over HTTP, in the directory that the page's host has named.

use phaselock::seek::{SeekView, SeekWish};
use phaselock_web::page;
use phaselock_web::seek::WebSeek;

use crate::online::{Directories, Search};

/// The directory of the page.
#[derive(Debug)]
pub(super) struct PageDirectory(Option<String>);

impl PageDirectory {
    pub(super) fn new() -> Self {
        Self(page::directory())
    }
}

impl Directories for PageDirectory {
    fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    fn can_grow(&self) -> bool {
        false
    }

    fn seek(&self, wish: SeekWish) -> Result<Box<dyn Search>, String> {
        let url = self.0.clone().unwrap_or_default();
        Ok(Box::new(WebSeek::start(wish, url)))
    }
}

impl Search for WebSeek {
    fn view(&mut self) -> SeekView {
        Self::view(self)
    }
}
