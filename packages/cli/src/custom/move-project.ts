import { parseCell, systemClock } from "@svc/core";
import { loadConfig } from "@svc/server/config";
import { InvalidArgumentError } from "commander";
import { command, type Run } from "../command/declared.ts";
import { CommandError } from "../command/error.ts";
import { parseSpan } from "../command/options.ts";

type MoveValues = {
  readonly project: string;
  readonly to: string;
  readonly name?: string;
  readonly wait: number;
  readonly leaveSharedPosts?: true;
  readonly cancel?: true;
  readonly remove?: true;
};

/** The command `svc projects move`, which moves a project with all its data to another cell. */
export const addProjectMove = command(
  undefined,
  {
    says: "move a project with all its data to another cell; both cells run meanwhile, and the project answers 503 until it works there",
    takes: { "<project>": "id or name of the project" },
    options: [
      ["--to <cell>", "name of the destination (its SVC_CELL)", { parse: cellOf, required: true }],
      ["--name <name>", "name of the project in the destination (default: its name)"],
      [
        "--wait <time>",
        "time that work in progress gets to end by itself",
        { parse: parseSpan, default: 45_000, defaultText: "45s" },
      ],
      [
        "--leave-shared-posts",
        "move it although apps of all projects post about its accounts: those posts stay with this cell",
      ],
      ["--cancel", "end an interrupted move: the project works here again"],
      ["--remove", "delete the rows that are left here after the move"],
    ],
    json: "the project's id, its cell and the number of rows as JSON",
    client: "none",
    more: "\nSVC_DATABASE_URL names the database of this cell, SVC_MOVE_DATABASE_URL that of the destination, and SVC_VAULT_KEY the vault key\nof both. If the command is interrupted, run it again with the same options.",
    examples: [
      "svc projects move billing --to c2",
      "svc projects move billing --to c2 --cancel",
      "svc projects move billing --to c2 --remove",
    ],
  },
  async ({ values, context, asJson }: Run<MoveValues>) => {
    const { project, to: cell, name, wait, cancel, remove, leaveSharedPosts } = values;
    if (cancel === true && remove === true) throw new CommandError("--cancel and --remove exclude each other", 2);
    const { environment } = context;
    const config = loadConfig(environment);
    if (config.cell === cell) throw new CommandError(`the project is in cell ${cell} already (SVC_CELL)`, 2);
    // Loads the server only here, so that other commands start without it.
    const { cancelMove, moveProject, openMove, plainError, removeMoved } = await import("@svc/server/moves");
    await using opened = openMove(config, environment.get("SVC_MOVE_DATABASE_URL")?.trim() || undefined);
    const options = {
      ...opened,
      ...{ clock: systemClock, project, cell, name, waitMs: wait, leavesSharedPosts: leaveSharedPosts === true },
      ...{ signal: context.untilInterrupted(), onProgress: (text: string) => context.note(text) },
    };
    const tell = (answer: object, text: string) => context.print(asJson ? JSON.stringify(answer) : text);
    try {
      if (cancel === true) {
        const projectId = await cancelMove(options);
        return tell({ projectId, cell: config.cell ?? "" }, projectId);
      }
      if (remove === true) {
        const rows = await removeMoved(options);
        return tell({ project, rows }, `${rows} rows deleted`);
      }
      const moved = await moveProject(options);
      tell(moved, moved.projectId);
    } catch (error) {
      throw plainError(error);
    }
    context.note(
      `It works in cell ${cell}. Give the proxies the new maps of both cells (svc cells config --haproxy); then delete the rows that are left here with --remove.`,
    );
  },
);

function cellOf(text: string): string {
  try {
    return parseCell(text);
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}
