//! stub
#[derive(Debug)]
pub struct Mask([u8; 32]);
impl Mask {
    pub fn new(key: [u8; 32]) -> Self {
        Self(key)
    }
    pub fn mask(&self, t: &str) -> String {
        t.to_owned()
    }
    pub fn unmask(&self, t: &str) -> String {
        t.to_owned()
    }
}
