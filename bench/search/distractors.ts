import type { Action, Catalog, Tool } from "@svc/catalog";
import apps from "./distractors.json" with { type: "json" };

/** An action of a made-up app on one of its objects, in the words that definitions use. */
type Deed = {
  readonly verb: string;
  readonly isPlural?: boolean;
  readonly class: Action["class"];
  readonly description: (thing: Words) => string;
  readonly intents: (thing: Words) => readonly string[];
  readonly args: readonly string[];
};

type Words = { readonly one: string; readonly many: string; readonly field: string };

const deeds: readonly Deed[] = [
  {
    verb: "create",
    class: "write",
    description: ({ one, field }) =>
      `Creates a ${one} in the ${field} app with the details given and returns it with its id.`,
    intents: ({ one }) => [`add a new ${one}`, `set up another ${one} for us`, `we need one more ${one}`],
    args: ["name", "description", "owner_id"],
  },
  {
    verb: "get",
    class: "read",
    description: ({ one, many }) =>
      `Reads one ${one} by its id with all fields; to find ${many} by words use the search.`,
    intents: ({ one }) => [`show me that ${one}`, `what do we know about this ${one}`, `open the ${one}`],
    args: ["fields"],
  },
  {
    verb: "list",
    isPlural: true,
    class: "read",
    description: ({ many, field }) =>
      `Lists the ${many} of the ${field} account page by page, newest first, with id, name and status.`,
    intents: ({ many }) => [`which ${many} do we have`, `show all ${many}`, `overview of the ${many} of this month`],
    args: ["limit", "cursor", "status"],
  },
  {
    verb: "update",
    class: "write",
    description: ({ one }) => `Changes the given fields of a ${one} and leaves the others as they are.`,
    intents: ({ one }) => [`correct the details of a ${one}`, `rename the ${one}`, `edit that ${one}`],
    args: ["name", "description", "status"],
  },
  {
    verb: "delete",
    class: "destructive",
    description: ({ one }) => `Deletes a ${one} for good, together with its history; this cannot be undone.`,
    intents: ({ one }) => [`get rid of the ${one}`, `remove a ${one} we no longer need`, `throw the ${one} away`],
    args: ["reason"],
  },
  {
    verb: "search",
    isPlural: true,
    class: "read",
    description: ({ many }) => `Finds ${many} by words in their name and notes, best match first.`,
    intents: ({ one, many }) => [
      `find a ${one} by name`,
      `look for ${many} that mention a word`,
      `is there a ${one} called so`,
    ],
    args: ["query", "limit"],
  },
  {
    verb: "archive",
    class: "write",
    description: ({ one }) => `Takes a ${one} out of the lists and keeps its content; it can be brought back.`,
    intents: ({ one }) => [`put the ${one} away`, `hide old ${one} entries`, `retire this ${one}`],
    args: [],
  },
  {
    verb: "restore",
    class: "write",
    description: ({ one }) => `Brings an archived or deleted ${one} back with everything it held.`,
    intents: ({ one }) => [`bring the ${one} back`, `undo that we archived the ${one}`, `recover a lost ${one}`],
    args: [],
  },
  {
    verb: "duplicate",
    class: "write",
    description: ({ one }) => `Copies a ${one} with its settings under another name.`,
    intents: ({ one }) => [`make another ${one} just like this one`, `clone the ${one}`, `reuse last year's ${one}`],
    args: ["new_name"],
  },
  {
    verb: "assign",
    class: "write",
    description: ({ one }) => `Hands a ${one} to one person, in place of whoever had it.`,
    intents: ({ one }) => [
      `who takes the ${one}: give it to Kim`,
      `put Ada in charge of the ${one}`,
      `reassign a ${one}`,
    ],
    args: ["user_id"],
  },
  {
    verb: "tag",
    class: "write",
    description: ({ one, many }) => `Puts tags on a ${one} so that ${many} can be grouped; tags it has are kept.`,
    intents: ({ one }) => [`mark the ${one} as urgent`, `label a ${one}`, `group this ${one} with similar ones`],
    args: ["tags"],
  },
  {
    verb: "comment_on",
    class: "write",
    description: ({ one }) => `Writes a comment on a ${one}, which its followers are told of.`,
    intents: ({ one }) => [
      `leave a note on the ${one}`,
      `tell the team something about a ${one}`,
      `reply on the ${one}`,
    ],
    args: ["text"],
  },
  {
    verb: "export",
    isPlural: true,
    class: "read",
    description: ({ many }) => `Writes ${many} of a period into a file and returns a link to it.`,
    intents: ({ many }) => [`download all ${many} as a file`, `give me a table of the ${many}`, `report of ${many}`],
    args: ["format", "start_date", "end_date"],
  },
  {
    verb: "import",
    isPlural: true,
    class: "write",
    description: ({ many }) => `Reads ${many} from a file, adds new ones and updates those that are known.`,
    intents: ({ many }) => [
      `load ${many} from a spreadsheet`,
      `bring ${many} over from the old system`,
      `bulk upload ${many}`,
    ],
    args: ["file_url"],
  },
  {
    verb: "share",
    class: "write",
    description: ({ one }) => `Gives a person or a group access to a ${one}, to look at or to change.`,
    intents: ({ one }) => [`let Maria see the ${one}`, `give the client access to a ${one}`, `send round the ${one}`],
    args: ["email", "role"],
  },
  {
    verb: "schedule",
    class: "write",
    description: ({ one }) => `Plans a ${one} for a day and time; people concerned are notified.`,
    intents: ({ one }) => [
      `plan the ${one} for Monday`,
      `set a date for the ${one}`,
      `put off the ${one} to next week`,
    ],
    args: ["start_time", "time_zone"],
  },
  {
    verb: "approve",
    class: "write",
    description: ({ one }) => `Approves a ${one} that waits for a decision; the requester is told.`,
    intents: ({ one }) => [`sign off the ${one}`, `say yes to the pending ${one}`, `accept the ${one}`],
    args: ["note"],
  },
  {
    verb: "cancel",
    class: "destructive",
    description: ({ one }) => `Cancels a ${one} that has not begun and notifies everybody concerned.`,
    intents: ({ one }) => [`call off the ${one}`, `stop the ${one}`, `we do not want the ${one} after all`],
    args: ["reason"],
  },
  {
    verb: "count",
    isPlural: true,
    class: "read",
    description: ({ many }) => `Counts ${many} by status, all or those of a period.`,
    intents: ({ many }) => [`how many ${many} are there`, `number of open ${many}`, `${many} per week`],
    args: ["start_date", "end_date"],
  },
  {
    verb: "watch",
    class: "write",
    description: ({ one }) => `Makes a person follow a ${one}, so that changes of it are mailed to them.`,
    intents: ({ one }) => [
      `keep me posted on the ${one}`,
      `subscribe to changes of a ${one}`,
      `alert me when the ${one} changes`,
    ],
    args: ["user_id"],
  },
];

/**
 * Adds made-up apps of other kinds to a catalog: 94 toolkits in total with 100 tools each, the same in every run. `model` provides the
 * parts of an action that a search does not read.
 */
export function withDistractors(catalog: Catalog, model: Action): Catalog {
  const toolkitModel = catalog.toolkits.get(model.toolkitSlug);
  if (toolkitModel === undefined) throw new Error(`no toolkit ${model.toolkitSlug}`);
  const toolkits = new Map(catalog.toolkits);
  const tools = new Map<string, Tool>(catalog.tools);
  for (const { slug, field, things } of apps) {
    const actions = things.flatMap((thing) => deeds.map((deed) => makeAction(model, { slug, field, thing, deed })));
    const name = slug.replaceAll("_", " ");
    const description = `Work with ${things.join(", ")} and more in an app for ${field}.`;
    toolkits.set(slug, { ...toolkitModel, slug, name, description, sayings: undefined, actions, triggers: [] });
    for (const action of actions) tools.set(action.slug, action);
  }
  return { toolkits, tools };
}

function makeAction(model: Action, of: { slug: string; field: string; thing: string; deed: Deed }): Action {
  const { deed, slug, field, thing } = of;
  const words: Words = { one: thing, many: pluralOf(thing), field };
  const noun = thing.replaceAll(" ", "_");
  const name = `${deed.verb}_${deed.isPlural ? pluralOf(noun) : noun}`;
  const args = deed.isPlural || deed.verb === "create" ? deed.args : [`${noun}_id`, ...deed.args];
  return {
    ...model,
    // These tools have no path of their own that a search could read.
    request: { ...model.request, path: { kind: "constant", value: "/" } },
    slug: `${slug}.${name}`,
    name,
    toolkitSlug: slug,
    class: deed.class,
    description: deed.description(words),
    intents: deed.intents(words),
    callable: true,
    inputSchema: {
      type: "object",
      properties: Object.fromEntries(
        args.map((arg) => [arg, { type: "string", description: `The ${arg.replaceAll("_", " ")} of the ${thing}.` }]),
      ),
    },
  };
}

function pluralOf(noun: string): string {
  if (/[^aeiou]y$/.test(noun)) return `${noun.slice(0, -1)}ies`;
  return /(?:s|x|ch|sh)$/.test(noun) ? `${noun}es` : `${noun}s`;
}
