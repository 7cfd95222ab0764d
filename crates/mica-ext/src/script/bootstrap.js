// What turns a script into an extension. It is given the host's functions and the natives of a resident, and returns the
// function through which every call enters. Everything that it needs later is taken now, before a script can change it.
// What is not true to its word here only harms the extension itself: permissions, sizes and shapes are judged outside.
(host, natives) => {
  "use strict";
  const { parse, stringify } = JSON;
  const { setTimer, clearTimer, current } = natives;
  const { freeze, keys, defineProperty, getPrototypeOf, prototype: PLAIN } = Object;
  const { isArray } = Array;
  const isObject = (value) => typeof value === "object" && value !== null;
  // A map or an error is an object too, but what is in it is not where it is looked for.
  const isPlain = (value) => {
    if (!isObject(value) || isArray(value)) return false;
    const made = getPrototypeOf(value);
    return made === PLAIN || made === null;
  };
  const define = (name, value) =>
    defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
  const fail = (message) => {
    throw new TypeError(message);
  };
  const word = (value, what) => (typeof value === "string" ? value : fail(`${what} must be a string`));
  const callable = (value, what) => (typeof value === "function" ? value : fail(`${what} must be a function`));

  // ---- signals and timers -------------------------------------------------------------------------------------------

  const CONTROL = Symbol("control");
  class AbortSignal {
    #aborted = false;
    #reason = undefined;
    #listeners = [];
    onabort = null;
    get aborted() { return this.#aborted; }
    get reason() { return this.#reason; }
    throwIfAborted() { if (this.#aborted) throw this.#reason; }
    addEventListener(kind, listener) { if (kind === "abort" && typeof listener === "function") this.#listeners.push(listener); }
    removeEventListener(kind, listener) { this.#listeners = this.#listeners.filter((other) => other !== listener); }
    [CONTROL](reason) {
      if (this.#aborted) return;
      this.#aborted = true;
      this.#reason = reason;
      const told = [this.onabort, ...this.#listeners];
      this.#listeners = [];
      for (const listener of told) {
        try { if (typeof listener === "function") listener({ type: "abort", target: this }); } catch (error) { console.error(error); }
      }
    }
  }
  class AbortController {
    #signal = new AbortSignal();
    get signal() { return this.#signal; }
    abort(reason) { this.#signal[CONTROL](reason ?? stopped()); }
  }
  const stopped = () => {
    const error = new Error("the call was stopped");
    error.name = "AbortError";
    return error;
  };
  define("AbortController", AbortController);
  define("AbortSignal", AbortSignal);

  const timers = new Map();
  let timer = 0;
  const schedule = (run, wait, args, every) => {
    callable(run, "what a timer runs");
    const ms = Number(wait) || 0;
    timer += 1;
    if (!setTimer(timer, ms)) throw new Error("an extension has 64 timers at most: clear some of them first");
    timers.set(timer, { run, args, every: every ? ms : undefined });
    return timer;
  };
  const unschedule = (id) => {
    if (timers.delete(id)) clearTimer(id);
  };
  define("setTimeout", (run, wait, ...args) => schedule(run, wait, args, false));
  define("setInterval", (run, wait, ...args) => schedule(run, wait, args, true));
  define("clearTimeout", unschedule);
  define("clearInterval", unschedule);
  define("queueMicrotask", (run) => { Promise.resolve().then(callable(run, "a microtask")); });
  const fire = (id) => {
    const due = timers.get(id);
    if (!due) return undefined;
    if (due.every === undefined) timers.delete(id);
    else setTimer(id, due.every);
    const made = due.run(...due.args);
    return isObject(made) && typeof made.then === "function" ? made.then(() => undefined) : undefined;
  };

  // ---- what handlers are given --------------------------------------------------------------------------------------

  // Calls under way, each with its controller once somebody asked for its signal.
  const calls = new Map();
  const signal = (number) => {
    let controller = calls.get(number);
    if (!controller) {
      controller = new AbortController();
      if (calls.has(number)) calls.set(number, controller);
    }
    return controller.signal;
  };
  const choices = (options) => {
    if (!isArray(options)) fail("options must be an array");
    return options.map((option) =>
      typeof option === "string"
        ? { label: option, value: option }
        : { label: word(option?.label, "an option's label"), description: option.description, value: "value" in option ? option.value : option.label });
  };
  const severity = (said) => (said === "warning" ? "warn" : said === undefined ? "info" : said);
  const ui = (number) => freeze({
    confirm: (title, message) =>
      message === undefined ? host.confirm(number, "", word(title, "the message")) : host.confirm(number, word(title, "the title"), word(message, "the message")),
    select: async (title, options) => {
      if (isObject(title)) ({ title = title.message ?? "", options } = title);
      const offered = choices(options);
      const shown = offered.map(({ label, description }) => ({ label, description }));
      const picked = await host.select(number, word(title, "the title"), shown);
      return typeof picked === "number" ? offered[picked]?.value : undefined;
    },
    input: async (title, placeholder) => {
      if (isObject(title)) ({ title = title.message ?? "", placeholder } = title);
      const written = await host.input(number, word(title, "the title"), placeholder ?? "");
      return written ?? undefined;
    },
    notify: (message, said) => { host.notify(word(message, "the message"), severity(said)); },
    setStatus: (key, text) => { host.setStatus(word(key, "the key"), text ?? null); },
  });
  class Context {
    #number;
    #ui;
    constructor(number) { this.#number = number; }
    get ui() { return (this.#ui ??= ui(this.#number)); }
    get signal() { return signal(this.#number); }
    get hasUI() { return host.hasUI(); }
    get cwd() { return host.cwd(); }
    isIdle() { return host.isIdle(); }
    abort() { host.abort(); }
    getContextUsage() { return host.usage(); }
    getSystemPrompt() { return host.systemPrompt(); }
  }

  // ---- what the factory is given ------------------------------------------------------------------------------------

  const handlers = new Map();
  const tools = new Map();
  const commands = new Map();
  const shortcuts = new Map();
  const MOST = { handlers: 256, tools: 64, commands: 64, shortcuts: 64 };
  let events = [];
  let loading = false;
  const registering = (what, count) => {
    if (!loading) throw new Error(`${what} works only while the extension is loaded: call it in the factory`);
    if (count >= MOST[what] ) throw new Error(`an extension has ${MOST[what]} ${what} at most`);
  };
  const NAME = /^[A-Za-z0-9_-]{1,64}$/;
  const named = (name, what) => (NAME.test(word(name, what)) ? name : fail(`${what} ${stringify(name)} must have 1 to 64 letters of A-Z a-z 0-9 _ -`));
  const text = (content) => (typeof content === "string" ? content : isArray(content) ? content : fail("content must be a string or an array of content"));
  const outgoing = (message, options = {}, voice) => ({
    customType: message.customType, content: text(message.content), details: message.details,
    display: message.display !== false, deliver: options?.deliverAs ?? "steer", trigger: options?.triggerTurn === true, voice,
  });
  const run = (program, args, options) => {
    if (isArray(program)) [program, args, options] = [undefined, program, args];
    else if (isObject(program)) [program, options, args] = [undefined, program, program.argv];
    const shell = program !== undefined && !isArray(args);
    if (shell && isObject(args)) options = args;
    const { command, cwd, stdin, timeout } = options ?? {};
    const argv = args && !shell ? (program === undefined ? [...args] : [program, ...args]) : undefined;
    return host.exec(current(), { argv, command: argv ? undefined : shell ? program : command, cwd, stdin, timeout });
  };
  const request = async (url, options = {}) => {
    const headers = isObject(options.headers) ? options.headers : {};
    const pairs = isArray(headers) ? headers : keys(headers).map((name) => [name, String(headers[name])]);
    const { method, body, timeout } = options;
    const got = await host.fetch(current(), { url: String(url), method, headers: pairs, body, timeout });
    const found = new Map(got.headers);
    return freeze({
      ok: got.status >= 200 && got.status < 300, status: got.status, url: got.url,
      headers: freeze({ get: (name) => found.get(String(name).toLowerCase()) ?? null, has: (name) => found.has(String(name).toLowerCase()), entries: () => found.entries() }),
      text: async () => got.body,
      json: async () => parse(got.body),
    });
  };
  const api = freeze({
    on: (event, handler) => {
      registering("handlers", [...handlers.values()].reduce((sum, list) => sum + list.length, 0));
      if (!events.includes(event)) fail(`there is no event ${stringify(event)}; there is: ${events.join(", ")}`);
      callable(handler, "a handler");
      const list = handlers.get(event);
      if (list) list.push(handler);
      else handlers.set(event, [handler]);
    },
    registerTool: (tool) => {
      registering("tools", tools.size);
      const name = named(tool?.name, "a tool's name");
      if (tools.has(name)) fail(`there are two tools ${name}`);
      word(tool.description, `the description of ${name}`);
      if (!isObject(tool.parameters)) fail(`the parameters of ${name} must be a JSON Schema`);
      tools.set(name, { tool, execute: callable(tool.execute, `execute of ${name}`) });
    },
    registerCommand: (name, options) => {
      registering("commands", commands.size);
      if (commands.has(named(name, "a command's name"))) fail(`there are two commands ${name}`);
      commands.set(name, { description: options?.description ?? "", handler: callable(options?.handler, `the handler of ${name}`) });
    },
    registerShortcut: (key, options) => {
      registering("shortcuts", shortcuts.size);
      if (shortcuts.has(word(key, "a key"))) fail(`there are two shortcuts ${key}`);
      shortcuts.set(key, { description: options?.description ?? "", handler: callable(options?.handler, `the handler of ${key}`) });
    },
    sendMessage: (message, options) => { host.sendMessage(outgoing(message, options, "extension")); },
    sendUserMessage: (content, options) => { host.sendMessage(outgoing({ content }, { triggerTurn: true, ...options }, "user")); },
    appendEntry: (customType, data) => host.appendEntry(word(customType, "the type of an entry"), data ?? null),
    getEntries: async (customType) => {
      const all = await host.entries();
      return customType === undefined ? all : all.filter((entry) => entry.customType === customType);
    },
    getAllTools: () => host.tools(),
    getActiveTools: () => host.tools().filter((tool) => tool.active).map((tool) => tool.name),
    setActiveTools: (names) => { host.setActiveTools(names); },
    getThinkingLevel: () => host.thinkingLevel(),
    setThinkingLevel: (level) => { host.setThinkingLevel(word(level, "the level")); },
    abort: () => { host.abort(); },
    exec: run,
    fetch: request,
    storage: freeze({
      get: async (key) => (await host.stored(word(key, "the key"))) ?? undefined,
      set: (key, value) => host.store(word(key, "the key"), value ?? null),
      delete: (key) => host.store(word(key, "the key"), null),
      keys: () => host.storedKeys(),
    }),
  });

  // ---- events -------------------------------------------------------------------------------------------------------

  const answer = (said, event, ...known) => {
    if (said === undefined || said === null) return undefined;
    if (!isPlain(said)) fail(`a handler of ${event} returns nothing or a plain object with: ${known.join(", ")}`);
    const found = keys(said);
    // A misspelt `block` must not let a call pass.
    for (let i = 0; i < found.length; i++) {
      if (!known.includes(found[i])) fail(`a handler of ${event} returned ${stringify(found[i])}, which means nothing; it may return: ${known.join(", ")}`);
    }
    return said;
  };
  const reason = (said, otherwise) => (said === undefined ? otherwise : String(said));
  // Handlers one after the other: `take` looks at what each returned, and ends it with anything but undefined; `done` makes
  // the answer. Waits only for those that wait: most answer at once, and a promise for each would cost more than they do.
  const isPromise = (value) => isObject(value) && typeof value.then === "function";
  const each = (list, event, context, take, done) => {
    let next = 0;
    const go = () => {
      while (next < list.length) {
        const made = list[next++](event, context);
        if (isPromise(made)) return Promise.resolve(made).then(taken);
        const end = take(made);
        if (end !== undefined) return end;
      }
      return done();
    };
    const taken = (made) => take(made) ?? go();
    return go();
  };
  const kinds = {
    tool_call: (event, context, list) => {
      const before = stringify(event.input);
      let asks;
      const take = (made) => {
        const said = answer(made, "tool_call", "block", "ask", "reason", "input");
        if (!said) return undefined;
        if (said.block) return stringify({ block: reason(said.reason, "it gave no reason") });
        if (said.reason !== undefined && !("block" in said) && !("ask" in said)) fail("a handler of tool_call returned a reason without block or ask");
        if (said.ask) asks ??= reason(said.reason, "it wants a person to look at this");
        if (said.input !== undefined) event.input = said.input;
        return undefined;
      };
      return each(list, event, context, take, () => {
        if (!isPlain(event.input)) fail("a handler of tool_call changed the input to something that is no plain object");
        const after = stringify(event.input);
        if (after === before) return asks === undefined ? undefined : stringify({ ask: asks });
        return stringify({ ask: asks, input: event.input });
      });
    },
    tool_result: (event, context, list) => {
      let changed;
      const take = (made) => {
        const said = answer(made, "tool_result", "content", "details", "isError");
        if (!said) return;
        changed ??= {};
        if (said.content !== undefined) changed.content = event.content = text(said.content);
        if (said.details !== undefined) changed.details = event.details = said.details;
        if (said.isError !== undefined) changed.isError = event.isError = said.isError === true;
      };
      return each(list, event, context, take, () => changed && stringify(changed));
    },
    context: (event, context, list) => {
      let changed = false;
      const take = (made) => {
        const said = answer(made, "context", "messages");
        if (said?.messages === undefined) return;
        if (!isArray(said.messages)) fail("messages must be an array");
        event.messages = said.messages;
        changed = true;
      };
      return each(list, event, context, take, () => (changed ? stringify(event.messages) : undefined));
    },
    input: (event, context, list) => {
      const typed = event.text;
      const take = (made) => {
        const said = answer(made, "input", "action", "text", "reason");
        if (!said || said.action === "continue") return undefined;
        if (said.action === "handled") return stringify({ handled: said.text === undefined ? null : String(said.text) });
        if (said.action === "block") return stringify({ refused: reason(said.reason, "it gave no reason") });
        if (said.action !== "transform") fail(`there is no action ${stringify(said.action)}`);
        event.text = word(said.text, "the text");
        return undefined;
      };
      return each(list, event, context, take, () => (event.text === typed ? undefined : stringify({ text: event.text })));
    },
    before_agent_start: (event, context, list) => {
      const added = [];
      const whole = event.systemPrompt;
      const take = (made) => {
        const said = answer(made, "before_agent_start", "systemPrompt", "message");
        if (!said) return;
        if (said.systemPrompt !== undefined) {
          const prompt = word(said.systemPrompt, "systemPrompt");
          // What was sent stays as it was: only what is new rides along.
          added.push(prompt.startsWith(whole) ? prompt.slice(whole.length) : prompt);
        }
        if (said.message !== undefined) added.push(spoken(text(said.message?.content)));
      };
      return each(list, event, context, take, () => (added.length ? stringify(added) : undefined));
    },
  };
  const observe = (event, context, list) => each(list, event, context, () => undefined, () => undefined);
  const spoken = (content) => (typeof content === "string" ? content : isArray(content) ? content.map((part) => part?.text ?? "").join("\n") : "");
  const works = {
    begin: async (given) => {
      events = given.events;
      loading = true;
      const { default: factory } = await import(given.main);
      if (typeof factory !== "function") fail("the file must export a function as its default: export default (api) => { … }");
      await factory(api);
      loading = false;
      const listed = (map, of) => [...map].map(([name, { description }]) => ({ [of]: name, description: String(description) }));
      return stringify({
        events: [...handlers.keys()],
        commands: listed(commands, "name"),
        shortcuts: listed(shortcuts, "key"),
        tools: [...tools.values()].map(({ tool: { name, label, description, parameters, readOnly, timeout } }) =>
          ({ name, label, description, parameters, readOnly: readOnly === true, timeout })),
      });
    },
    event: (event, number) => {
      const list = handlers.get(event.type);
      return list && (kinds[event.type] ?? observe)(event, new Context(number), list);
    },
    tool: async ({ name, id, params }, number) => {
      const { tool, execute } = tools.get(name);
      const update = (partial) => { host.progress(number, spoken(isObject(partial) && !isArray(partial) ? partial.content : partial)); };
      const made = await execute.call(tool, id, params, signal(number), update, new Context(number));
      if (made === undefined || made === null) return stringify({ content: "" });
      return stringify(typeof made === "string" ? { content: made } : { content: text(made.content), details: made.details, isError: made.isError === true });
    },
    command: async ({ name, args }, number) => {
      const made = await commands.get(name).handler(args, new Context(number));
      return typeof made === "string" ? stringify({ shown: made }) : made === undefined ? undefined : stringify({ prompt: answer(made, name, "prompt")?.prompt });
    },
    shortcut: async ({ key }, number) => { await shortcuts.get(key).handler(new Context(number)); },
  };
  return (what, number, given) => {
    if (what === "abort") return void (calls.has(number) && (signal(number), calls.get(number).abort()));
    if (what === "timer") return fire(Number(given));
    calls.set(number, undefined);
    let waits = false;
    const over = () => { calls.delete(number); };
    try {
      const made = works[what](parse(given), number);
      if (!isPromise(made)) return made;
      waits = true;
      return made.then((value) => (over(), value), (error) => { over(); throw error; });
    } finally {
      if (!waits) over();
    }
  };
}
