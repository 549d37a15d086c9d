import { loadConfig } from "@svc/server/config";
import { command, type Run } from "../command/declared.ts";
import { CommandError } from "../command/error.ts";
import { topic } from "../command/topic.ts";

/** The command `svc cells config`, with which the operator configures proxies in front of several cells. */
export const addCellsCommand = topic({
  says: "configure proxies in front of several cells (deployments behind one address)",
  examples: ["svc cells config --haproxy"],
  commands: {
    config: command(
      undefined,
      {
        says: "print the part of a proxy's configuration that belongs to this cell (SVC_CELL, SVC_DATABASE_URL)",
        options: [["--haproxy", "as lines of a map file of HAProxy; deploy/haproxy/cells.cfg uses it"]],
        json: "the lines as a JSON list of {text, cell}",
        client: "none",
        examples: [
          "SVC_CELL=c2 svc cells config --haproxy > /etc/haproxy/cells/c2.map",
          "svc cells config --haproxy --json",
        ],
      },
      async ({ values: { haproxy }, context, asJson }: Run<{ readonly haproxy?: true }>) => {
        if (haproxy !== true) throw new CommandError("no proxy is given: give --haproxy", 2);
        // Loads the server only here, so that other commands start without it.
        const { cellMapLines } = await import("@svc/server/moves");
        const lines = cellMapLines(loadConfig(context.environment));
        if (!asJson) {
          for await (const line of lines) context.print(line);
          return;
        }
        const entries: { readonly text: string; readonly cell: string }[] = [];
        for await (const line of lines) {
          const [text = "", cell = ""] = line.split(" ");
          entries.push({ text, cell });
        }
        context.print(JSON.stringify(entries, undefined, 2));
      },
    ),
  },
});
