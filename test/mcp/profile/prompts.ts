import type { McpContext, McpOutcome } from "@svc/tools";
import { embedded, image, text } from "./content.ts";
import { type Asked, ask } from "./input-tools.ts";

type Arguments = Readonly<Record<string, string>>;
type Params = Asked & { readonly name?: unknown; readonly arguments?: Arguments };

const messages = (...contents: object[]) => contents.map((content) => ({ role: "user", content }));

const prompts: Readonly<Record<string, { takes: readonly string[]; messages: (args: Arguments) => object[] }>> = {
  test_simple_prompt: { takes: [], messages: () => messages(text("This is a simple prompt for testing.")) },
  test_prompt_with_arguments: {
    takes: ["arg1", "arg2"],
    messages: ({ arg1, arg2 }) => messages(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  },
  test_prompt_with_embedded_resource: {
    takes: ["resourceUri"],
    messages: ({ resourceUri = "" }) =>
      messages(
        embedded(resourceUri, "text/plain", "Embedded resource content for testing."),
        text("Please process the embedded resource above."),
      ),
  },
  test_prompt_with_image: { takes: [], messages: () => messages(image, text("Please analyze the image above.")) },
  test_input_required_result_prompt: { takes: [], messages: () => messages(text("With context.")) },
};

/** The suite's prompts, in the form of prompts/list. */
export const listedPrompts = Object.entries(prompts).map(([name, { takes }]) => ({
  name,
  description: `What the conformance suite calls ${name}.`,
  arguments: takes.map((argument) => ({ name: argument, required: true })),
}));

/** Answers prompts/get. */
export function getPrompt({ name, arguments: args = {}, inputResponses }: Params, context: McpContext): McpOutcome {
  const prompt = typeof name === "string" && Object.hasOwn(prompts, name) ? prompts[name] : undefined;
  if (prompt === undefined) return { type: "error", error: { code: -32_602, message: "Unknown prompt" } };
  if (name === "test_input_required_result_prompt" && inputResponses?.["user_context"] === undefined) {
    const requestedSchema = { type: "object", properties: { context: { type: "string" } }, required: ["context"] };
    const params = { mode: "form", message: "What context should the prompt use?", requestedSchema };
    return ask(context, { user_context: { method: "elicitation/create", params } });
  }
  return { type: "complete", result: { messages: prompt.messages(args) } };
}
