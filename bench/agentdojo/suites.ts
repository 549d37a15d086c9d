import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** The calls of a task, in order. */
export type TaskCalls = { readonly id: string; readonly calls: readonly GroundCall[] };
type GroundCall = { readonly function: string; readonly args: Readonly<Record<string, unknown>> };

/** A tool as the suite declares it. */
export type SuiteTool = {
  readonly name: string;
  readonly description: string;
  readonly parameters: {
    readonly properties?: Readonly<Record<string, ToolProperty>>;
    readonly required?: readonly string[];
  };
};
type ToolProperty = {
  readonly type?: string;
  readonly description?: string;
  readonly items?: object;
  readonly anyOf?: readonly { readonly type?: string; readonly items?: object }[];
};

/** One of the four suites, in the format that `export.py` writes. */
export type Suite = {
  readonly name: string;
  readonly tools: readonly SuiteTool[];
  readonly userTasks: readonly TaskCalls[];
  readonly injectionTasks: readonly TaskCalls[];
};

/** Reads `agentdojo.json` in a folder. Rejects if it is missing. The file is not part of this repository. */
export async function readSuites(
  folder: string,
): Promise<{ readonly version: string; readonly suites: readonly Suite[] }> {
  return JSON.parse(await readFile(join(folder, "agentdojo.json"), "utf8"));
}

const destructive = [
  ...["workspace.delete_email", "workspace.cancel_calendar_event", "workspace.delete_file"],
  ...["travel.cancel_calendar_event", "slack.remove_user_from_slack"],
  // Sent money cannot be recovered, and a changed password locks a person out.
  ...[
    "banking.send_money",
    "banking.schedule_transaction",
    "banking.update_scheduled_transaction",
    "banking.update_password",
  ],
];
const writes = [
  ...["send_email", "create_calendar_event", "reschedule_calendar_event", "add_calendar_event_participants"].map(
    (name) => `workspace.${name}`,
  ),
  ...["append_to_file", "create_file", "share_file"].map((name) => `workspace.${name}`),
  ...["create_calendar_event", "reserve_hotel", "reserve_car_rental", "reserve_restaurant", "send_email"].map(
    (name) => `travel.${name}`,
  ),
  "banking.update_user_info",
  ...["add_user_to_channel", "send_direct_message", "send_channel_message", "invite_user_to_slack", "post_webpage"].map(
    (name) => `slack.${name}`,
  ),
];
const classes = new Map([
  ...destructive.map((slug) => [slug, "destructive"] as const),
  ...writes.map((slug) => [slug, "write"] as const),
]);

/**
 * Returns the access class of a tool, as its publisher would choose it by the tool's effect and without knowing the attacks. An effect that
 * cannot be undone is destructive, any other change is a write, and all else is a read.
 */
export function classOf(slug: string): "read" | "write" | "destructive" {
  return classes.get(slug) ?? "read";
}

/** Returns a suite as the definition of a private toolkit, whose calls go to `origin`. */
export function definitionOf({ name, tools }: Suite, origin: string) {
  return {
    toolkit: {
      slug: name,
      name: `Suite ${name}`,
      description: `The tools of the suite ${name}, each of which posts its arguments to a stub that records them.`,
      version: "0.1.0",
      category: "knowledge",
      baseUrl: origin,
      auth: [{ type: "none" }],
    },
    tools: Object.fromEntries(tools.map((tool, index) => [tool.name, actionOf(name, tool, index)])),
  };
}

function actionOf(suite: string, { name, description, parameters }: SuiteTool, index: number): object {
  const properties = Object.entries(parameters.properties ?? {});
  return {
    kind: "action",
    class: classOf(`${suite}.${name}`),
    description: `${description.split("\n")[0]?.slice(0, 600)} A tool of the suite ${suite}, whose arguments are recorded and answered with nothing.`,
    // The intents are placeholders, because this benchmark does not search for tools.
    intents: ["one", "another", "a third"].map((way) => `what ${suite} has number ${index} for, said ${way} way`),
    input: {
      type: "object",
      additionalProperties: false,
      required: parameters.required ?? [],
      properties: Object.fromEntries(properties.map(([key, property]) => [key, propertyOf(key, property)])),
    },
    output: { type: "object", properties: {} },
    request: {
      ...{ method: "POST", path: `/${suite}/${name}` },
      ...(properties.length > 0 && { body: Object.fromEntries(properties.map(([key]) => [key, `{{params.${key}}}`])) }),
    },
  };
}

function propertyOf(key: string, property: ToolProperty): object {
  const { type = "string", items } = property.anyOf?.find((one) => one.type !== "null") ?? property;
  return { type, ...(items !== undefined && { items }), description: property.description ?? key };
}
