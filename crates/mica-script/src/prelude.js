// What every cage begins with. It is given natives, and hands scripts `console`, `host`, time and chance.
// Everything that it needs later is taken now, before a script can change it.
(natives) => {
  "use strict";
  const { parse, stringify } = JSON;
  const { log, ask, random, names, now, hidden } = natives;
  const define = (object, name, value) =>
    Object.defineProperty(object, name, { value, writable: true, configurable: true, enumerable: false });

  const shown = (value) => {
    if (typeof value === "string") return value;
    if (value instanceof Error) return value.stack ? `${value}\n${value.stack}` : `${value}`;
    try {
      const text = stringify(value);
      return text === undefined ? String(value) : text;
    } catch {
      return Object.prototype.toString.call(value);
    }
  };
  const print = (level) => (...values) => {
    let text = "";
    for (let i = 0; i < values.length; i++) text += (i ? " " : "") + shown(values[i]);
    log(level, text);
  };
  const console = { debug: print("debug"), log: print("log"), info: print("info"), warn: print("warn"), error: print("error") };
  define(globalThis, "console", Object.freeze(console));

  const host = {};
  for (const name of names) {
    host[name] = (...args) => {
      const answer = ask(name, stringify(args));
      return typeof answer === "string" ? parse(answer) : answer.then(parse);
    };
  }
  // A resident's own code hands scripts what it likes of it.
  if (!hidden) define(globalThis, "host", Object.freeze(host));

  define(Math, "random", () => random());

  if (now !== undefined) {
    const System = Date;
    const Frozen = function Date(...args) {
      if (!new.target) return new System(now).toString();
      return Reflect.construct(System, args.length ? args : [now], new.target);
    };
    Frozen.prototype = System.prototype;
    define(Frozen.prototype, "constructor", Frozen);
    define(Frozen, "now", () => now);
    define(Frozen, "parse", System.parse);
    define(Frozen, "UTC", System.UTC);
    define(globalThis, "Date", Frozen);
  }

  // One script cannot teach the objects of another new tricks.
  for (const of of [Object, Array, Function, String, Number, Boolean, Promise, RegExp, Date, Error, Map, Set]) {
    Object.preventExtensions(of.prototype);
  }

  return host;
}
