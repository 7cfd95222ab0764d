//! The codes of findings in expressions, each with a page.

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $number:literal;)*) => {
        $($(#[$doc])* pub const $name: u16 = $number;)*
        /// All of them.
        pub const ALL: &[u16] = &[$($number),*];
    };
}

codes! {
    /// It does not parse.
    SYNTAX = 301;
    /// Nothing between the braces.
    EMPTY = 302;
    /// Two values without an operator between them.
    LEFTOVER = 303;
    /// A minus that belongs to the number behind it.
    MINUS = 304;
    /// A sign before a value.
    SIGN = 305;
    /// `!x` or `not x`.
    NEGATION = 306;
    /// `AND`, `True`, `NULL`.
    CASE = 307;
    /// A function that does not exist.
    UNKNOWN_FUNCTION = 308;
    /// A bare name.
    BARE_NAME = 309;
    /// A word that cannot follow a dot.
    RESERVED = 310;
    /// A root without its second part.
    ROOT = 311;
    /// A string that does not end.
    QUOTE = 312;
    /// Parentheses or brackets that do not close.
    UNCLOSED = 313;
    /// Characters that the runtime drops.
    DROPPED = 314;
    /// `=`, `===`, `<>`.
    EQUALS_SIGN = 315;
    /// A hyphen in a name that looks like a minus.
    HYPHEN = 316;
    /// A function without parentheses, a field with them.
    NOT_A_CALL = 317;
    /// A filter that does not parse.
    FILTER_SYNTAX = 319;
    /// `1e3`.
    EXPONENT = 320;
    /// `vars['x']`.
    SINGLE_QUOTED_VARIABLE = 321;
    /// `vars."x"`.
    QUOTED_VARIABLE = 322;
    /// Too long or too deep to be checked.
    TOO_LARGE = 323;

    /// A comparison beside `and` or `or`.
    LOGICAL_FIRST = 401;
    /// `a and b or c`.
    MIXED_LOGICAL = 402;
    /// `1 < x < 5`.
    CHAINED = 403;
    /// `'x' + flag ? a : b`.
    CONDITION_FIRST = 404;
    /// A condition that is not a boolean.
    CONDITION = 405;
    /// `and` or `or` between other things than booleans.
    LOGICAL_KIND = 406;
    /// `'Count: ' + 5`.
    TEXT_PLUS_NUMBER = 407;
    /// `'id-' + params.pathParams.id`.
    TEXT_PLUS_AUTO = 408;
    /// Arithmetic with other things than numbers.
    ARITHMETIC_KIND = 409;
    /// An operator and null.
    NULL_OPERAND = 410;
    /// `<` between other things than numbers.
    ORDER_KIND = 411;
    /// `<` with a long.
    LONG_ORDER = 412;
    /// `payload.items.length() > 0`.
    LENGTH_ORDER = 413;
    /// `1 == 1.0`.
    DECIMAL_EQUALITY = 414;
    /// `headers.x == '007'`.
    AUTO_EQUALITY = 415;
    /// `exists(x) and (x > 3)`.
    SHORT_CIRCUIT = 416;
    /// `payload.x == null`.
    ABSENCE = 417;
    /// `payload.arr[0] + 1`.
    ELEMENT_ARITHMETIC = 418;
    /// An index that is not a whole number.
    INDEX_KIND = 419;
    /// `10.0 / 3`.
    DECIMAL_DIVISION = 420;
    /// Whole numbers that wrap.
    OVERFLOW = 421;
    /// `x / 0`.
    ZERO_DIVISION = 422;

    /// `props.synapse.To`.
    SPECIAL_PROPERTY = 430;
    /// `exists('vars.x')`.
    EXISTS_TEXT = 431;
    /// A map used as a whole.
    WHOLE_MAP = 432;
    /// `exists(payload.a[?(…)])`.
    EXISTS_MANY = 433;
    /// A list of matches used as one value.
    MANY_AS_ONE = 434;
    /// `payload.a[?(…)][0]`.
    INDEX_OF_MANY = 435;
    /// `split(s, ',')[0]`.
    IGNORED_PATH = 436;
    /// `split(s, '.')`.
    SPLIT_PATTERN = 437;
    /// Words in a filter.
    FILTER_WORDS = 438;
    /// `payload.list[*].n.sum()`.
    AGGREGATE_OF_MANY = 439;
    /// `[1, null]`.
    ARRAY_NULL = 440;
    /// `[true]`.
    ARRAY_STRINGS = 441;
    /// `log(x)`.
    LOG_BASE = 442;
    /// `integer(5.7)`.
    INTEGER_OF_DECIMAL = 443;
    /// `length(headers.x)`.
    AUTO_ARGUMENT = 444;
    /// `object('{…}')`.
    JSON_IN_SINGLE_QUOTES = 445;
    /// `'a\nb'`.
    ESCAPE = 446;
    /// `"'" + x + "'"`.
    QUOTES_STRIPPED = 447;
    /// `params.functionParams.x` outside a template.
    FUNCTION_PARAMETER = 448;
    /// A variable that is never set.
    UNKNOWN_VARIABLE = 449;
    /// A path parameter that the resource does not have.
    UNKNOWN_PARAMETER = 450;
    /// `formatDateTime(t, 'YYYY-MM-DD')`.
    DATE_PATTERN = 451;
    /// The wrong number of arguments.
    ARITY = 452;
    /// An argument of the wrong kind.
    ARGUMENT_KIND = 453;
    /// An argument that is null.
    NULL_ARGUMENT = 454;
    /// A field that is not there.
    UNKNOWN_FIELD = 455;
    /// A path into a value that is no JSON.
    PATH_INTO_VALUE = 456;
    /// A slice that does not do what it says.
    SLICE = 457;
    /// `['a','b']`.
    NAME_LIST = 458;
    /// `[(@.length-1)]`.
    SCRIPT_INDEX = 459;
    /// `isNumber(now())`.
    IS_NUMBER_LONG = 460;
    /// `boolean(1)`.
    BOOLEAN_OF_NUMBER = 461;
    /// A text function around `xpath()` where an object is wanted.
    XPATH_OBJECT = 462;
    /// A date pattern that is no pattern.
    BAD_DATE_PATTERN = 463;
    /// It always fails.
    ALWAYS_FAILS = 464;
    /// `split()` with a pattern that is no pattern.
    BAD_SPLIT_PATTERN = 465;
}
