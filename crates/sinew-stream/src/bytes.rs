//! Reading of big-endian fields, with lengths checked.

use crate::DecodeError;

/// The part of a packet that has not been read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    left: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { left: bytes }
    }

    pub fn take(&mut self, count: usize) -> Result<&'a [u8], DecodeError> {
        let (taken, left) = self.left.split_at_checked(count).ok_or(DecodeError::Short)?;
        self.left = left;
        Ok(taken)
    }

    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let (taken, left) = self.left.split_first_chunk::<N>().ok_or(DecodeError::Short)?;
        self.left = left;
        Ok(*taken)
    }

    pub fn u8(&mut self) -> Result<u8, DecodeError> {
        Ok(self.array::<1>()?[0])
    }

    pub fn u16(&mut self) -> Result<u16, DecodeError> {
        Ok(u16::from_be_bytes(self.array()?))
    }

    pub fn u32(&mut self) -> Result<u32, DecodeError> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    pub fn u64(&mut self) -> Result<u64, DecodeError> {
        Ok(u64::from_be_bytes(self.array()?))
    }

    /// A finite number.
    pub fn f32(&mut self) -> Result<f32, DecodeError> {
        let value = f32::from_be_bytes(self.array()?);
        if value.is_finite() { Ok(value) } else { Err(DecodeError::Value("number is not finite")) }
    }

    pub fn vector(&mut self) -> Result<[f32; 3], DecodeError> {
        Ok([self.f32()?, self.f32()?, self.f32()?])
    }

    pub fn rest(self) -> &'a [u8] {
        self.left
    }

    pub fn end(self) -> Result<(), DecodeError> {
        if self.left.is_empty() { Ok(()) } else { Err(DecodeError::Length) }
    }
}

pub(crate) fn put_vector(out: &mut Vec<u8>, vector: [f32; 3]) {
    for value in vector {
        out.extend(value.to_be_bytes());
    }
}
