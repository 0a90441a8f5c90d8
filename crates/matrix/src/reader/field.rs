//! What a file says about all its values, and about the part of the matrix that it stores.

/// The type of the values of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Floating-point numbers: `real` or `double`.
    Real,
    Integer,
    /// Integers that are not negative: `unsigned-integer`.
    UnsignedInteger,
    /// Positions without values: `pattern`.
    Pattern,
}

impl Field {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Real => "real",
            Self::Integer => "integer",
            Self::UnsignedInteger => "unsigned-integer",
            Self::Pattern => "pattern",
        }
    }
}

/// The symmetry of the matrix, which determines the part that a file stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symmetry {
    General,
    /// The file stores one triangle; the other is its mirror image. `hermitian` has the same meaning because
    /// no value is complex.
    Symmetric,
    /// The file stores one triangle; the other is its mirror image with the opposite sign.
    SkewSymmetric,
}

impl Symmetry {
    pub const fn name(self) -> &'static str {
        match self {
            Self::General => "general",
            Self::Symmetric => "symmetric",
            Self::SkewSymmetric => "skew-symmetric",
        }
    }

    /// Returns the factor of mirrored values; `None` if entries are not mirrored.
    pub(super) const fn mirror_sign(self) -> Option<f64> {
        match self {
            Self::General => None,
            Self::Symmetric => Some(1.0),
            Self::SkewSymmetric => Some(-1.0),
        }
    }
}
