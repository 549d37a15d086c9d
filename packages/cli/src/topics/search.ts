import { ToolsService } from "@svc/gen/tools";
import { countUpTo } from "../command/options.ts";
import { call } from "../command/topic.ts";
import { firstSentence, wrappedTableLines } from "../text/table.ts";

/** `svc search`. */
export const addSearchCommand = call(ToolsService.method.searchTools, {
  says: "find tools by what you want to do, in plain words, best first",
  takes: { "<words...>": "what you want to do, such as: move a meeting to tomorrow" },
  options: [
    ["--toolkit <slug>", "only tools of this toolkit", { fills: "toolkitSlug" }],
    [
      "--class <class>",
      "only tools of this class",
      { fills: "accessClass", choices: ["read", "write", "destructive"] },
    ],
    ["--limit <count>", "most tools to list, at most 50", { parse: countUpTo(50), default: 8 }],
  ],
  request: ({ values: { words } }) => ({ query: [words].flat().join(" ") }),
  shows: ({ results, confidence }, { context }) => {
    const rows = results.flatMap(({ tool, confidence: fit }) =>
      tool === undefined ? [] : [[tool.slug, tool.accessClass, fit, firstSentence(tool.description)]],
    );
    if (rows.length === 0) {
      context.note("No tool fits. Say it in other words, or with fewer filters.");
      return [];
    }
    if (confidence === "low")
      context.note("Hardly a word of it fits these tools. Say it in other words, or name the toolkit.");
    context.note(`\`svc catalog show ${rows[0]?.[0]}\` shows what a tool takes.`);
    return wrappedTableLines(["TOOL", "CLASS", "CONFIDENCE", "DESCRIPTION"], rows);
  },
  examples: [
    'svc search "what is on my calendar tomorrow"',
    'svc search "cancel a subscription" --class destructive --limit 3',
  ],
});
