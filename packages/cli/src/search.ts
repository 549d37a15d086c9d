import { SearchToolsResponseSchema } from "@svc/gen/tools";
import { type Command, InvalidArgumentError, Option } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "./client/open-client.ts";
import type { CommandContext } from "./command/context.ts";
import { addExamples } from "./command/examples.ts";
import { addJson, type JsonOption } from "./command/options.ts";
import { messageText } from "./text/message.ts";
import { wrappedTableLines } from "./text/wrap.ts";

type SearchOptions = ProjectOptions & JsonOption & { toolkit?: string; class?: string; limit: number };

/** Adds `svc search`. */
export function addSearchCommand(program: Command, context: CommandContext): void {
  const search = program
    .command("search")
    .description("find tools by what you want to do, in plain words, best first")
    .argument("<words...>", "what you want to do, such as: move a meeting to tomorrow")
    .option("--toolkit <slug>", "only tools of this toolkit")
    .addOption(new Option("--class <class>", "only tools of this class").choices(["read", "write", "destructive"]))
    .option("--limit <count>", "most tools to list, at most 50", parseLimit, 8)
    .action((words: string[], options: SearchOptions) => searchTools(words.join(" "), options, context));
  addExamples(addProjectOptions(addJson(search)), [
    'svc search "what is on my calendar tomorrow"',
    'svc search "cancel a subscription" --class destructive --limit 3',
  ]);
}

async function searchTools(query: string, options: SearchOptions, context: CommandContext): Promise<void> {
  const { tools } = await openProjectClient(options, context);
  const { toolkit: toolkitSlug = "", class: accessClass = "", limit } = options;
  const found = await tools.searchTools({ query, toolkitSlug, accessClass, limit });
  if (options.json) return context.print(messageText(SearchToolsResponseSchema, found));
  const rows = found.results.flatMap(({ tool, confidence }) =>
    tool === undefined ? [] : [[tool.slug, tool.accessClass, confidence, firstSentence(tool.description)]],
  );
  if (rows.length === 0) {
    context.note("No tool fits. Say it in other words, or with fewer filters.");
    return;
  }
  for (const line of wrappedTableLines(["TOOL", "CLASS", "CONFIDENCE", "DESCRIPTION"], rows)) context.print(line);
  if (found.confidence === "low")
    context.note("Hardly a word of it fits these tools. Say it in other words, or name the toolkit.");
  context.note(`\`svc catalog show ${rows[0]?.[0]}\` shows what a tool takes.`);
}

function firstSentence(text: string): string {
  return /^.*?[.](?=\s+[A-Z])/s.exec(text)?.[0] ?? text;
}

function parseLimit(text: string): number {
  const limit = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= 50) return limit;
  throw new InvalidArgumentError("expected a whole number from 1 to 50");
}
