//! Macros that leave the code in which they are called, or make names for it.

macro_rules! give_up {
    ($when:expr, $value:expr) => {
        if $when {
            return $value;
        }
    };
}
macro_rules! stop_if {
    ($when:expr) => {
        if $when {
            break;
        }
    };
}
macro_rules! names {
    ($name:ident, $value:expr) => {
        let mut $name = $value;
    };
}
macro_rules! plus {
    ($a:expr, $b:expr) => {
        $a + $b
    };
}
