import {
  clone,
  create,
  type DescMessage,
  type DescService,
  getOption,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import type { HandlerContext } from "@connectrpc/connect";
import { type Principal, principalContext } from "@svc/core";
import { payload, quotes_payload } from "@svc/gen/options";
import { serverFaults } from "../errors.ts";

type Method = (request: Message, context: HandlerContext) => unknown;

/**
 * Returns a service implementation whose answers to viewers have no payloads and results: `***` replaces the fields that declare `payload`,
 * and fields that declare `quotes_payload` have only the text before their first quoted part.
 * A viewer's request with such a field is refused, because an answer to it would say something about payloads. This is the only place that
 * hides payloads, and it applies to every call of svc.v1.
 */
export function hidePayloads<Implementation extends object>(
  service: DescService,
  implementation: Implementation,
): Implementation {
  if (!service.typeName.startsWith("svc.v1.")) return implementation;
  const hiding: Implementation = Object.create(implementation);
  for (const { input, output, localName, methodKind } of service.methods) {
    const method: unknown = Reflect.get(implementation, localName);
    const [asks, answers] = [input.fields.filter((field) => getOption(field, payload)), hasPayloads(output)];
    if (typeof method !== "function" || (asks.length === 0 && !answers)) continue;
    const run = method.bind(implementation) as Method;
    const check = (request: Message) => {
      const asked = asks.find((field) => reflect(input, request).isSet(field));
      if (asked !== undefined) throw serverFaults.PAYLOADS_HIDDEN(asked.localName);
    };
    Reflect.set(hiding, localName, (methodKind === "unary" ? hidden : hiddenStream)(output, run, check));
  }
  return hiding;
}

type Hide = (output: DescMessage, run: Method, check: (request: Message) => void) => Method;

const hidden: Hide = (output, run, check) => (request, context) => {
  if (!isViewer(context.values.get(principalContext))) return run(request, context);
  check(request);
  return Promise.resolve(run(request, context)).then((answer) => withoutPayloads(output, answer as Message));
};

const hiddenStream: Hide = (output, run, check) =>
  async function* (request, context) {
    const isHidden = isViewer(context.values.get(principalContext));
    if (isHidden) check(request);
    for await (const answer of run(request, context) as AsyncIterable<Message>)
      yield isHidden ? withoutPayloads(output, answer) : answer;
  };

function isViewer(principal: Principal | undefined): boolean {
  return principal?.kind === "project" && principal.role === "viewer";
}

/** Returns a copy of an answer without payloads. The answer itself stays, because several callers may share it. */
function withoutPayloads(output: DescMessage, answer: Message): Message {
  const copy = clone(output, create(output, answer));
  hide(reflect(output, copy));
  return copy;
}

function hide(message: ReflectMessage): void {
  for (const field of message.fields) {
    if (!message.isSet(field)) continue;
    if (getOption(field, payload)) {
      if (field.fieldKind === "scalar") message.set(field, field.name.endsWith("_json") ? '"***"' : "***");
      else message.clear(field);
    } else if (getOption(field, quotes_payload)) {
      if (field.fieldKind === "scalar") message.set(field, withoutQuotes(String(message.get(field))));
    } else if (field.message !== undefined && hasPayloads(field.message)) {
      if (field.fieldKind === "message") hide(message.get(field));
      else if (field.fieldKind === "list") for (const one of message.get(field)) hide(one as ReflectMessage);
    }
  }
}

const quote = /: | ?["\u201c]|, and is /;

/** Returns the start of a sentence or an error of svc, up to its first quoted part: `Sales CRM refused the call`. */
function withoutQuotes(text: string): string {
  const [start = ""] = text.split(quote, 1);
  return start === "" ? "***" : start;
}

const known = new Map<DescMessage, boolean>();

/**
 * True if a message, or a message in it, has a field that declares `payload` or `quotes_payload`. Throws an Error if such a field is of a
 * type that `hidePayloads` cannot hide, so that such a server does not start.
 */
function hasPayloads(desc: DescMessage, open: ReadonlySet<DescMessage> = new Set()): boolean {
  const before = known.get(desc);
  if (before !== undefined || open.has(desc)) return before ?? false;
  const within = new Set([...open, desc]);
  let found = false;
  for (const field of desc.fields) {
    const isQuoting = getOption(field, quotes_payload);
    const isOwn = isQuoting || getOption(field, payload);
    const isNested = field.message !== undefined && hasPayloads(field.message, within);
    const isText = field.fieldKind === "scalar" && field.scalar === ScalarType.STRING;
    if ((isOwn && field.fieldKind === "enum") || (isQuoting && !isText) || (isNested && field.fieldKind === "map"))
      throw new Error(`${desc.typeName}.${field.name} declares a payload, and no viewer's answer can hide it`);
    found ||= isOwn || isNested;
  }
  // Within a cycle of messages, the result of an inner message may be incomplete.
  if (open.size === 0) known.set(desc, found);
  return found;
}
