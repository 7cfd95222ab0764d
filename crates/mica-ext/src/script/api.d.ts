/**
 * Types for extensions of mica. An extension is a file, or a folder with an `index.ts`, that exports a function:
 *
 * ```ts
 * // @mica-extension {"description": "Says hello.", "permissions": []}
 * import type { ExtensionFactory } from "mica";
 *
 * const hello: ExtensionFactory = (api) => {
 *   api.registerCommand("hello", { description: "Says hello.", handler: (name) => `Hello ${name}` });
 * };
 * export default hello;
 * ```
 *
 * It runs in a cage: no files, no network, no processes, no environment but through `api`, within the permissions that its
 * manifest declares and the user granted. A call may compute for a second; waiting does not count. While one call waits,
 * others of the same extension go on.
 */
declare module "mica" {
  export type ExtensionFactory = (api: ExtensionAPI) => void | Promise<void>;

  /** Everything below is called while the factory runs (`on`, `register…`) or at any later time (the rest). */
  export interface ExtensionAPI {
    /** Calls a handler whenever something happens. Handlers of one event run one after the other, in order. */
    on(event: "tool_call", handler: Handler<"tool_call", ExtensionResults["tool_call"]>): void;
    on(event: "tool_result", handler: Handler<"tool_result", ExtensionResults["tool_result"]>): void;
    on(event: "context", handler: Handler<"context", ExtensionResults["context"]>): void;
    on(event: "input", handler: Handler<"input", ExtensionResults["input"]>): void;
    on(event: "before_agent_start", handler: Handler<"before_agent_start", ExtensionResults["before_agent_start"]>): void;
    on(event: "session_start", handler: Handler<"session_start">): void;
    on(event: "session_fork", handler: Handler<"session_fork">): void;
    on(event: "session_shutdown", handler: Handler<"session_shutdown">): void;
    on(event: "agent_start", handler: Handler<"agent_start">): void;
    on(event: "agent_end", handler: Handler<"agent_end">): void;
    on(event: "turn_start", handler: Handler<"turn_start">): void;
    on(event: "turn_end", handler: Handler<"turn_end">): void;
    on(event: "message_start", handler: Handler<"message_start">): void;
    on(event: "message_update", handler: Handler<"message_update">): void;
    on(event: "message_end", handler: Handler<"message_end">): void;
    on(event: "tool_execution_start", handler: Handler<"tool_execution_start">): void;
    on(event: "tool_execution_update", handler: Handler<"tool_execution_update">): void;
    on(event: "tool_execution_end", handler: Handler<"tool_execution_end">): void;
    on(event: "user_shell", handler: Handler<"user_shell">): void;
    on(event: "before_compact", handler: Handler<"before_compact">): void;
    on(event: "compacted", handler: Handler<"compacted">): void;
    on(event: "model_change", handler: Handler<"model_change">): void;
    on(event: "subagent_start", handler: Handler<"subagent_start">): void;
    on(event: "subagent_end", handler: Handler<"subagent_end">): void;
    on(event: "notice", handler: Handler<"notice">): void;

    /** Adds a tool for the model. A name that the program has itself is not replaced. */
    registerTool<P extends TSchema = TSchema, D = unknown>(tool: ToolDefinition<P, D>): void;
    /** Adds a command that people type as `/name`. */
    registerCommand(name: string, options: CommandOptions): void;
    /** Adds a key, such as `ctrl+g`. */
    registerShortcut(key: string, options: ShortcutOptions): void;

    /** Says something to the model, in the extension's own name. Needs the permission `messages`. */
    sendMessage(message: CustomMessage, options?: SendOptions): void;
    /** Says something as if the person had typed it; begins a run when none goes on. Needs the permission `messages`. */
    sendUserMessage(content: string | Content[], options?: SendOptions): void;

    /** Keeps something in the session, where it follows branches. Returns the id of the entry. */
    appendEntry(customType: string, data?: unknown): Promise<string>;
    /** What this extension kept on the current branch, the oldest first. */
    getEntries<D = unknown>(customType?: string): Promise<Entry<D>[]>;

    getAllTools(): ToolInfo[];
    getActiveTools(): string[];
    /** Needs the permission `agent`. */
    setActiveTools(names: string[]): void;
    getThinkingLevel(): ThinkingLevel;
    /** Needs the permission `agent`. */
    setThinkingLevel(level: ThinkingLevel): void;
    /** Ends the run that goes on. */
    abort(): void;

    /** Runs a program in the sandbox. Needs `exec:PROGRAM`, or `exec` for a command line of the shell and for paths. */
    exec(program: string, args: string[], options?: ExecOptions): Promise<ExecResult>;
    exec(argv: string[], options?: ExecOptions): Promise<ExecResult>;
    exec(commandLine: string, options?: ExecOptions): Promise<ExecResult>;
    exec(options: ExecOptions & ({ argv: string[] } | { command: string })): Promise<ExecResult>;

    /** Asks the network, by the rules that hold for the agent. Needs `fetch:HOST` or `fetch`. */
    fetch(url: string, options?: FetchOptions): Promise<FetchResponse>;

    /** Values that outlive sessions, for this extension alone. Needs the permission `storage`. */
    readonly storage: ExtensionStorage;
  }

  // ---- events ---------------------------------------------------------------------------------------------------------

  /** What handlers are given, by event. */
  export interface ExtensionEvents {
    /** Before a tool runs. Changing `input`, or returning another, changes what it runs with. */
    tool_call: { type: "tool_call"; toolName: string; toolCallId: string; input: Record<string, any> };
    /** After a tool ran. */
    tool_result: {
      type: "tool_result"; toolName: string; toolCallId: string; input: Record<string, any>;
      content: Content[]; details?: unknown; isError: boolean;
    };
    /** Before the model is asked: what it would be sent. What is kept does not change. */
    context: { type: "context"; messages: AgentMessage[] };
    /** Somebody typed something that is no command. */
    input: { type: "input"; text: string };
    /** A run is about to begin. */
    before_agent_start: { type: "before_agent_start"; prompt: string; systemPrompt: string };

    session_start: { type: "session_start"; reason: string };
    session_fork: { type: "session_fork"; sessionId: string };
    session_shutdown: { type: "session_shutdown"; reason: string };
    agent_start: { type: "agent_start" };
    agent_end: { type: "agent_end"; outcome: RunOutcome; answer: string };
    turn_start: { type: "turn_start"; turnIndex: number };
    turn_end: { type: "turn_end"; turnIndex: number };
    message_start: { type: "message_start"; messageId: string };
    message_update: { type: "message_update"; messageId: string; delta: Record<string, any> };
    message_end: { type: "message_end"; messageId: string; message: AgentMessage };
    tool_execution_start: { type: "tool_execution_start"; toolCallId: string; toolName: string; args: Record<string, any> };
    tool_execution_update: { type: "tool_execution_update"; toolCallId: string; news: string };
    tool_execution_end: { type: "tool_execution_end"; toolCallId: string; isError: boolean };
    /** A person runs a command of their own. */
    user_shell: { type: "user_shell"; command: string };
    before_compact: { type: "before_compact"; reason: string };
    compacted: { type: "compacted"; reason: string; tokensBefore: number; tokensAfter: number };
    model_change: { type: "model_change"; model: string };
    subagent_start: { type: "subagent_start"; agentId: string };
    subagent_end: { type: "subagent_end"; agentId: string; outcome: RunOutcome };
    notice: { type: "notice"; text: string };
  }

  /** What handlers may return, by event. What is not here is not looked at. */
  export interface ExtensionResults {
    /**
     * The first `block` wins; `ask` lets a person decide, about the call as it would run. A handler that throws, or returns
     * something else, blocks.
     */
    tool_call: { block?: boolean; ask?: boolean; reason?: string; input?: Record<string, any> };
    tool_result: { content?: string | Content[]; details?: unknown; isError?: boolean };
    /** Leave messages out, move them, change the content of users and results, add messages of users. */
    context: { messages?: AgentMessage[] };
    input: { action: "continue" } | { action: "transform"; text: string } | { action: "handled"; text?: string } | { action: "block"; reason?: string };
    /** What is added rides with the prompt; the system prompt itself stays as it was sent. */
    before_agent_start: { systemPrompt?: string; message?: CustomMessage };
  }

  export type ExtensionEvent = keyof ExtensionEvents;
  export type ExtensionResult<E extends ExtensionEvent> = E extends keyof ExtensionResults ? ExtensionResults[E] : unknown;
  export type ExtensionHandler<E extends ExtensionEvent> = Handler<E, ExtensionResult<E>>;
  type Handler<E extends ExtensionEvent, R = unknown> = (event: ExtensionEvents[E], ctx: ExtensionContext) => R | void | undefined | Promise<R | void | undefined>;
  export type RunOutcome = "completed" | "exhausted" | "suspended" | "aborted" | "failed";

  // ---- what handlers are given ------------------------------------------------------------------------------------------

  export interface ExtensionContext {
    readonly ui: ExtensionUI;
    /** Whether somebody is there. Without, questions are answered with no, or nothing. */
    readonly hasUI: boolean;
    readonly cwd: string;
    /** Fires when the call should end. */
    readonly signal: AbortSignal;
    isIdle(): boolean;
    abort(): void;
    getContextUsage(): ContextUsage;
    getSystemPrompt(): string;
  }

  /** Whatever waits for a person has no clock. */
  export interface ExtensionUI {
    confirm(message: string): Promise<boolean>;
    confirm(title: string, message: string): Promise<boolean>;
    select<T extends string>(title: string, options: readonly T[]): Promise<T | undefined>;
    select<T>(options: SelectOptions<T>): Promise<T | undefined>;
    input(title: string, placeholder?: string): Promise<string | undefined>;
    input(options: InputOptions): Promise<string | undefined>;
    notify(message: string, severity?: Severity): void;
    /** Shows a short text for as long as it is set. */
    setStatus(key: string, text?: string): void;
  }

  export type Severity = "info" | "warn" | "warning" | "error";
  export interface SelectOptions<T> { title?: string; message?: string; options: readonly (SelectOption<T> | (T & string))[] }
  export interface SelectOption<T> { label: string; description?: string; value?: T }
  export interface InputOptions { title?: string; message?: string; placeholder?: string }
  export interface ContextUsage { tokens: number; contextWindow: number; percent: number }

  // ---- tools, commands, messages ----------------------------------------------------------------------------------------

  export interface ToolDefinition<P extends TSchema = TSchema, D = unknown> {
    /** 1 to 64 letters of A-Z a-z 0-9 _ - */
    name: string;
    /** The name that people see. */
    label?: string;
    /** What it does and when to use it, for the model. */
    description: string;
    /** JSON Schema of an object. */
    parameters: P;
    /** It only looks: it runs beside others, and nobody is asked unless a mode or a rule says so. */
    readOnly?: boolean;
    /** Milliseconds that a call may take, without the time of people. */
    timeout?: number;
    /** Does it. What is thrown is told to the model as a failure. */
    execute(
      toolCallId: string, params: Static<P>, signal: AbortSignal, onUpdate: (partial: string | ToolResult<D>) => void, ctx: ExtensionContext,
    ): string | ToolResult<D> | void | Promise<string | ToolResult<D> | void>;
  }
  export interface ToolResult<D = unknown> { content: string | Content[]; details?: D; isError?: boolean }
  export interface ToolInfo { name: string; description: string; active: boolean }

  export interface CommandOptions {
    description?: string;
    /** What is returned is shown; `{ prompt }` is said to the model instead of what was typed. */
    handler(args: string, ctx: ExtensionContext): CommandResult | Promise<CommandResult>;
  }
  export type CommandResult = string | { prompt: string } | void | undefined;
  export interface ShortcutOptions { description?: string; handler(ctx: ExtensionContext): unknown }

  export interface CustomMessage { customType?: string; content: string | Content[]; display?: boolean; details?: unknown }
  export interface SendOptions {
    /** Before the next model call (`steer`), when the run would end (`followUp`), or with the next prompt (`nextTurn`). */
    deliverAs?: "steer" | "followUp" | "nextTurn";
    /** Whether a run begins with it when none goes on. */
    triggerTurn?: boolean;
  }
  export interface Entry<D = unknown> { id: string; customType: string; data: D }
  export type ThinkingLevel = "off" | "minimal" | "low" | "medium" | "high" | "xhigh";

  export type Content = TextContent | ImageContent;
  export interface TextContent { type: "text"; text: string }
  export interface ImageContent { type: "image"; data: string; mimeType: string }
  export interface ThinkingContent { type: "thinking"; thinking: string }
  export interface ToolCallContent { type: "toolCall"; id: string; name: string; arguments: Record<string, any> }

  export type AgentMessage = UserMessage | AssistantMessage | ToolResultMessage;
  export interface UserMessage { role: "user"; id?: string; content: string | Content[]; customType?: string }
  export interface AssistantMessage {
    role: "assistant"; id: string; content: (TextContent | ThinkingContent | ImageContent | ToolCallContent)[];
    model: string; stopReason: string; usage: Record<string, any>; customType?: string;
  }
  export interface ToolResultMessage {
    role: "toolResult"; id: string; toolCallId: string; toolName: string; content: string | Content[]; isError: boolean; customType?: string;
  }

  // ---- the world --------------------------------------------------------------------------------------------------------

  export interface ExecOptions { cwd?: string; stdin?: string; /** Milliseconds. */ timeout?: number }
  export interface ExecResult { stdout: string; stderr: string; code: number | null; killed: boolean }
  export interface FetchOptions { method?: string; headers?: Record<string, string> | [string, string][]; body?: string; /** Milliseconds. */ timeout?: number }
  export interface FetchResponse {
    readonly ok: boolean; readonly status: number; readonly url: string;
    readonly headers: { get(name: string): string | null; has(name: string): boolean; entries(): IterableIterator<[string, string]> };
    text(): Promise<string>;
    json(): Promise<any>;
  }
  export interface ExtensionStorage {
    get<T = unknown>(key: string): Promise<T | undefined>;
    set(key: string, value: unknown): Promise<void>;
    delete(key: string): Promise<void>;
    keys(): Promise<string[]>;
  }

  // ---- schemas ----------------------------------------------------------------------------------------------------------

  /** A JSON Schema. `T` is what it describes. */
  export interface TSchema<T = any> { readonly [key: string]: any; readonly __type?: T; readonly __optional?: boolean }
  export type Static<S extends TSchema> = S extends TSchema<infer T> ? T : never;
  type OptionalKeys<P> = { [K in keyof P]: P[K] extends { readonly __optional: true } ? K : never }[keyof P];
  type ObjectOf<P extends Record<string, TSchema>> =
    { [K in Exclude<keyof P, OptionalKeys<P>>]: Static<P[K]> } & { [K in OptionalKeys<P>]?: Static<P[K]> };
  interface Options { description?: string; default?: unknown; [key: string]: unknown }

  export const Type: {
    Object<P extends Record<string, TSchema>>(properties: P, options?: Options): TSchema<ObjectOf<P>>;
    String(options?: Options): TSchema<string>;
    Number(options?: Options): TSchema<number>;
    Integer(options?: Options): TSchema<number>;
    Boolean(options?: Options): TSchema<boolean>;
    Null(options?: Options): TSchema<null>;
    Any(options?: Options): TSchema<any>;
    Unknown(options?: Options): TSchema<unknown>;
    Array<S extends TSchema>(items: S, options?: Options): TSchema<Static<S>[]>;
    Tuple<S extends TSchema[]>(items: [...S], options?: Options): TSchema<{ [K in keyof S]: Static<S[K]> }>;
    Record<S extends TSchema>(key: TSchema, values: S, options?: Options): TSchema<Record<string, Static<S>>>;
    Optional<S extends TSchema>(schema: S): S & { readonly __optional: true };
    Union<S extends TSchema>(schemas: S[], options?: Options): TSchema<Static<S>>;
    Literal<T extends string | number | boolean>(value: T, options?: Options): TSchema<T>;
    Enum<T extends (string | number)[]>(values: readonly [...T], options?: Options): TSchema<T[number]>;
    Enum<T extends string | number>(values: Record<string, T>, options?: Options): TSchema<T>;
    Unsafe<T>(schema: object): TSchema<T>;
  };
  export function StringEnum<T extends string[]>(values: readonly [...T], options?: Options): TSchema<T[number]>;
}

declare module "@sinclair/typebox" {
  export { Static, TSchema, Type } from "mica";
}
declare module "typebox" {
  export { Static, TSchema, Type } from "mica";
}

/** What an extension finds without importing it. There is no DOM and no Node here. */
interface AbortSignal {
  readonly aborted: boolean;
  readonly reason: any;
  onabort: ((event: { type: "abort"; target: AbortSignal }) => void) | null;
  throwIfAborted(): void;
  addEventListener(kind: "abort", listener: (event: { type: "abort"; target: AbortSignal }) => void): void;
  removeEventListener(kind: "abort", listener: (event: { type: "abort"; target: AbortSignal }) => void): void;
}
declare const AbortSignal: { prototype: AbortSignal };
interface AbortController { readonly signal: AbortSignal; abort(reason?: any): void }
declare const AbortController: { new (): AbortController; prototype: AbortController };
/** At most 64 timers wait at a time; they take a tenth of the time at most, and end with the extension. */
declare function setTimeout<A extends any[]>(run: (...args: A) => unknown, ms?: number, ...args: A): number;
declare function setInterval<A extends any[]>(run: (...args: A) => unknown, ms?: number, ...args: A): number;
declare function clearTimeout(id: number | undefined): void;
declare function clearInterval(id: number | undefined): void;
declare function queueMicrotask(run: () => void): void;
/** Goes to the extension's log. */
declare const console: Record<"debug" | "log" | "info" | "warn" | "error", (...values: unknown[]) => void>;
