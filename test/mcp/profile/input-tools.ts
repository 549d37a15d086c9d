import { createHmac } from "node:crypto";
import type { McpContext, McpOutcome } from "@svc/tools";
import { text } from "./content.ts";

/** Parameters of a request, which the client may repeat after the server has asked it for input. */
export type Asked = {
  readonly _meta?: Readonly<Record<string, unknown>>;
  readonly inputResponses?: Readonly<Record<string, unknown>>;
  readonly requestState?: unknown;
};

const answered = (value: string): McpOutcome => ({ type: "complete", result: { content: [text(value)] } });

/** Returns a server's request to the client for one value of a form. */
export function elicit(message: string, name: string, type = "string"): object {
  const requestedSchema = { type: "object", properties: { [name]: { type } }, required: [name] };
  return { method: "elicitation/create", params: { mode: "form", message, requestedSchema } };
}

function sample(question: string): object {
  const messages = [{ role: "user", content: { type: "text", text: question } }];
  return { method: "sampling/createMessage", params: { messages, maxTokens: 100 } };
}

const roots = { method: "roots/list", params: {} };

/** The client capability that each method of a server's request needs. */
const capabilityOf: Readonly<Record<string, string>> = {
  "elicitation/create": "elicitation",
  "sampling/createMessage": "sampling",
  "roots/list": "roots",
};

/** Asks the client for the inputs it has the capability for. A client with none of them gets an error. */
export function ask(
  { client }: McpContext,
  inputRequests: Readonly<Record<string, object>>,
  requestState?: string,
): McpOutcome {
  const askable = Object.entries(inputRequests).filter(([, request]) => {
    const { method } = request as { method: string };
    return client?.[capabilityOf[method] ?? ""] !== undefined;
  });
  if (askable.length === 0) {
    const requiredCapabilities = Object.fromEntries(
      Object.values(inputRequests).map((request) => [capabilityOf[(request as { method: string }).method], {}]),
    );
    return missing(requiredCapabilities);
  }
  return { type: "input_required", result: { inputRequests: Object.fromEntries(askable), requestState } };
}

function missing(requiredCapabilities: object): McpOutcome {
  const message = "The client did not declare what the request needs";
  return { type: "error", error: { code: -32_021, message, data: { requiredCapabilities } } };
}

/** The state that the client sends back is signed, so that a changed one is refused. */
const signed = (state: string) => `${state}.${createHmac("sha256", "a key of the tests").update(state).digest("hex")}`;
const isState = (state: unknown, expected: string) => state === signed(expected);
const tampered: McpOutcome = { type: "error", error: { code: -32_602, message: "requestState was not made here" } };

const isAnswer = (value: unknown): value is object => typeof value === "object" && value !== null;

type Tool = (params: Asked, context: McpContext) => McpOutcome;

/** Returns a tool that asks for one input and ends once the client has answered. */
function once(requests: Readonly<Record<string, object>>, state?: string): Tool {
  return ({ inputResponses = {}, requestState }, context) => {
    const isAnswered = Object.keys(requests).every((key) => isAnswer(inputResponses[key]));
    if (state !== undefined && requestState !== undefined && !isState(requestState, state)) return tampered;
    if (!isAnswered) return ask(context, requests, state && signed(state));
    return answered(`state-ok ${JSON.stringify(inputResponses)}`);
  };
}

const nameAsked = { user_name: elicit("What is your name?", "name") };
const confirmAsked = { confirm: elicit("Please confirm", "ok", "boolean") };

/** The suite's tools that ask the client for input. */
export const inputTools: Readonly<Record<string, Tool>> = {
  test_input_required_result_elicitation: once(nameAsked),
  test_input_required_result_sampling: once({ capital_question: sample("What is the capital of France?") }),
  test_input_required_result_list_roots: once({ client_roots: roots }),
  test_input_required_result_request_state: once(confirmAsked, "asked"),
  test_input_required_result_tampered_state: once(confirmAsked, "asked"),
  test_input_required_result_multiple_inputs: once(
    { ...nameAsked, greeting: sample("Generate a greeting"), client_roots: roots },
    "asked",
  ),
  test_input_required_result_multi_round({ inputResponses = {}, requestState }, context) {
    if (isState(requestState, "round-2") && isAnswer(inputResponses["step2"])) return answered("done");
    if (isState(requestState, "round-1") && isAnswer(inputResponses["step1"]))
      return ask(context, { step2: elicit("Step 2: What is your favorite color?", "color") }, signed("round-2"));
    return ask(context, { step1: elicit("Step 1: What is your name?", "name") }, signed("round-1"));
  },
  test_input_required_result_capabilities: (_params, context) =>
    ask(context, { name: elicit("What is your name?", "name"), question: sample("What is your name?") }),
  test_streaming_elicitation: once(nameAsked),
  test_missing_capability: (_params, { client }) =>
    client?.["sampling"] === undefined ? missing({ sampling: {} }) : answered("done"),
};
