/// What moves.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Phase {
    /// Nothing.
    Still,
    /// Some rounds more.
    Moving {
        /// So far each time.
        by: f64,
        /// So often.
        left: u32,
    },
    /// Two numbers.
    Both(f64, f64),
}

/// A root, if there is one above the limit.
pub fn root_of(x: f64, limit: f64) -> Option<f64> {
    let d = x * 2.0 - limit;
    if d < 0.0 {
        return None;
    }
    let root = d.sqrt() / (1.0 + limit * limit);
    if root > limit { Some(root) } else { None }
}

/// A number and how often it was halved.
pub fn halved(x: f64, n: u32) -> Option<(f64, u32)> {
    match n % 4 {
        0 => None,
        n if x > 1.0 => Some((x / (f64::from(n) + 0.5), n)),
        n => root_of(x, -0.5).map(|root| (root, n)),
    }
}

/// What comes next.
pub fn step_of(phase: Phase, x: f64) -> Phase {
    match phase {
        Phase::Still if x > 2.0 => Phase::Moving { by: x / 3.0, left: 3 },
        Phase::Still => Phase::Both(x, 0.5),
        Phase::Moving { left: 0, .. } => Phase::Still,
        Phase::Moving { by, left } => Phase::Moving { by: by * 0.5 + x, left: left - 1 },
        Phase::Both(a, b) if a < b => Phase::Still,
        Phase::Both(a, b) => Phase::Both(b, a - 1.0),
    }
}

impl Phase {
    /// A number of the fields.
    pub fn weight(&self, x: f64) -> f64 {
        match self {
            Phase::Still => x,
            Phase::Moving { by, left } if *left > 1 => by * x - f64::from(*left),
            Phase::Moving { by: one, .. } | Phase::Both(one, _) if *one < x => one.max(0.25),
            Phase::Moving { .. } => -1.0,
            &Phase::Both(a, b) => a * b,
        }
    }

    /// The same phase, further on.
    pub fn moved(self, x: f64) -> Self {
        if let Self::Both(a, b) = self {
            return Self::Both(b - x, a);
        }
        let Self::Moving { by, left: 1 } = self else {
            return self;
        };
        Self::Moving { by: by + x, left: 5 }
    }
}

/// The smaller of two.
pub fn nearer(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if a < b { a } else { b }),
        (Some(one), None) | (None, Some(one)) => Some(one * 0.5),
        (None, None) => None,
    }
}

/// What is there, up to a limit.
pub fn up_to(value: &Option<f64>, limit: f64) -> f64 {
    let Some(x) = value else {
        return 0.125;
    };
    if *x > limit { limit } else { x * 0.5 }
}
