//! Images as pixels and as PNG.

use sinew::{Real, Vec3};
use std::io::Write;

/// An image: rows from the top, three bytes (red, green, blue) per pixel, sRGB.
///
/// An example is at [`Options`](crate::Options).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Three bytes per pixel.
    pub pixels: Vec<u8>,
}

impl Image {
    /// Red, green and blue of a pixel; `None` outside the image.
    pub fn pixel(&self, x: u32, y: u32) -> Option<[u8; 3]> {
        if x >= self.width {
            return None;
        }
        let at = 3 * (y as usize * self.width as usize + x as usize);
        self.pixels.get(at..at + 3).and_then(|p| p.try_into().ok())
    }

    /// The image as PNG of at most `most` bytes, if coarser quantization of the colours can achieve it. The finest
    /// sufficient step is used, of at most 8 of 256 levels.
    ///
    /// # Errors
    /// Those of the encoder.
    pub fn png_within(&self, most: usize) -> Result<Vec<u8>, std::io::Error> {
        let mut bytes = Vec::new();
        for step in 1..=8_u8 {
            let coarse = |c: &u8| (c / step).saturating_mul(step).saturating_add(step / 2);
            let image = Self { pixels: self.pixels.iter().map(coarse).collect(), ..*self };
            bytes.clear();
            image.write_png(&mut bytes)?;
            if bytes.len() <= most {
                break;
            }
        }
        Ok(bytes)
    }

    /// Writes the image as PNG with the best compression of the encoder.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_png(&self, out: impl Write) -> Result<(), std::io::Error> {
        let mut encoder = png::Encoder::new(out, self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        encoder.set_compression(png::Compression::High);
        encoder.set_filter(png::Filter::Adaptive);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.pixels)?;
        writer.finish()?;
        Ok(())
    }
}

/// Linear RGB from sRGB bytes.
pub(crate) fn linear(rgb: u32) -> Vec3 {
    let channel = |shift: u32| {
        let c = (rgb >> shift & 255) as Real / 255.0;
        if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    Vec3::new(channel(16), channel(8), channel(0))
}

/// sRGB bytes from linear RGB; high values saturate smoothly.
pub(crate) fn encode(light: Vec3) -> [u8; 3] {
    light.to_array().map(|c| {
        // tone curve: linear up to the knee, then asymptotic to 1 with continuous slope
        const KNEE: Real = 0.7;
        let c = if c <= KNEE { c.max(0.0) } else { 1.0 - (1.0 - KNEE) * (-(c - KNEE) / (1.0 - KNEE)).exp() };
        let s = if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 };
        (s * 255.0 + 0.5) as u8
    })
}
