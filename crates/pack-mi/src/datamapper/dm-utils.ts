// Helpers for data mappings: `import * as dmUtils from "./dm-utils"`.
declare var DM_PROPERTIES: any;

/** The sum of numbers. */
export function sum(first: number, ...rest: number[]): number {
    return rest.reduce((total, one) => total + one, first);
}

/** The largest of numbers. */
export function max(first: number, ...rest: number[]): number {
    return rest.reduce((most, one) => (one > most ? one : most), first);
}

/** The smallest of numbers. */
export function min(first: number, ...rest: number[]): number {
    return rest.reduce((least, one) => (one < least ? one : least), first);
}

/** The average of numbers. */
export function average(first: number, ...rest: number[]): number {
    return sum(first, ...rest) / (rest.length + 1);
}

/** The next whole number that is not smaller. */
export function ceiling(number: number): number {
    return Math.ceil(number);
}

/** The next whole number that is not larger. */
export function floor(number: number): number {
    return Math.floor(number);
}

/** The nearest whole number. */
export function round(number: number): number {
    return Math.round(number);
}

/** A number from a text. */
export function toNumber(text: string): number {
    return Number(text);
}

/** True for the text "true", in any case. */
export function toBoolean(text: string): boolean {
    return text.toLowerCase() === "true";
}

/** A text from a number. */
export function numberToString(number: number): string {
    return number.toString();
}

/** A text from true or false. */
export function booleanToString(truth: boolean): string {
    return truth.toString();
}

/** Texts, one behind the other. */
export function concat(first: string, ...rest: string[]): string {
    return first.concat(...rest);
}

/** The parts of a text between separators. */
export function split(text: string, separator: string): string[] {
    return text.split(separator);
}

/** A text in upper case. */
export function toUppercase(text: string): string {
    return text.toUpperCase();
}

/** A text in lower case. */
export function toLowercase(text: string): string {
    return text.toLowerCase();
}

/** How long a text is. */
export function stringLength(text: string): number {
    return text.length;
}

/** Whether a text begins with another. */
export function startsWith(text: string, prefix: string): boolean {
    return text.startsWith(prefix);
}

/** Whether a text ends with another. */
export function endsWith(text: string, suffix: string): boolean {
    return text.endsWith(suffix);
}

/** The part of a text from a place up to another. */
export function substring(text: string, start: number, end: number): string {
    return text.substring(start, end);
}

/** A text without blanks around it. */
export function trim(text: string): string {
    return text.trim();
}

/** A text with the first occurrence of another one replaced. */
export function replaceFirst(text: string, target: string, replacement: string): string {
    return text.replace(target, () => replacement);
}

/** Whether a text matches a regular expression. */
export function match(text: string, pattern: RegExp): boolean {
    return pattern.test(text);
}

/** A property of the message, by scope and name. */
export function getPropertyValue(scope: string, name: string): any {
    return DM_PROPERTIES[scope.toUpperCase()][name];
}
