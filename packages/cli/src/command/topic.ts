import { type DescMessage, isMessage, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import type { Command } from "commander";
import { messageLine, messageListText, messageText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";
import { tableLines, timeText } from "../text/table.ts";
import { collectPages } from "./client.ts";
import type { CommandContext } from "./context.ts";
import { type CommandDeclaration, type CommandMaker, callerOf, command, type Method, type Run } from "./declared.ts";
import { addExamples } from "./options.ts";
import type { FieldName } from "./request-fields.ts";

/** A topic of the command line (for example `jobs`): its help, and its commands in the order of the help. */
export type TopicDeclaration = {
  readonly says: string;
  /** Another name by which the user can call the topic. */
  readonly alias?: string;
  readonly examples: readonly string[];
  readonly commands: Readonly<Record<string, CommandMaker>>;
};

/** Returns the command for a topic (a group of commands such as `jobs`), with its subcommands. */
export function topic({ says, alias, examples, commands }: TopicDeclaration): CommandMaker {
  const make = (program: Command, context: CommandContext, name: string): void => {
    const parent = program.command(name).description(says);
    if (alias !== undefined) parent.alias(alias);
    addExamples(parent, examples);
    for (const [member, add] of Object.entries(commands)) add(parent, context, member);
  };
  return Object.assign(make, { commands });
}

/** An API call that a command has made: its request, together with the arguments and context of that command. */
export type CompletedCall<Input extends DescMessage, Values> = Run<Values> & {
  readonly request: MessageInitShape<Input>;
};

type Lines = string | readonly string[];

/** The declaration of a command that makes one API call and shows the answer. */
type CallDeclaration<Input extends DescMessage, Output extends DescMessage, Values> = CommandDeclaration<Input> & {
  /**
   * Returns the request fields that the arguments and options do not fill. Rejects with CommandError if these fields cannot be determined,
   * for example because a named file cannot be read.
   */
  readonly request?: (run: Run<Values>) => MessageInitShape<Input> | Promise<MessageInitShape<Input>>;
  /** Makes the calls of a command that may need several, and returns one answer for all of them. Default: one call. */
  readonly makes?: (
    callMethod: (request: MessageInitShape<Input>) => Promise<MessageShape<Output>>,
    made: CompletedCall<Input, Values>,
  ) => Promise<MessageShape<Output>>;
  /** The field of the answer that the command shows and that `--json` prints. Default: the whole answer. */
  readonly result?: FieldName<Output>;
  /** The request field that contains the id of the deleted object. `--json` prints this id as `deleted`. */
  readonly deleted?: FieldName<Input>;
  /** The request field with the id of the object that the call ends (for example a console session). `--json` prints this id as `ended`. */
  readonly ended?: FieldName<Input>;
  /**
   * The lines that show the result, or a function that returns them. In a text, `{field}` is replaced by the value of that request field.
   */
  readonly shows:
    | string
    | ((answer: MessageShape<Output>, made: CompletedCall<Input, Values>) => Lines | Promise<Lines>);
  /** Returns remarks about the result. The command prints them to standard error, even with `--json`. */
  readonly notes?: (answer: MessageShape<Output>, made: CompletedCall<Input, Values>) => Lines;
};

/** Returns a command that makes one call of the API method `method` and shows the answer. */
export function call<Input extends DescMessage, Output extends DescMessage, Values = Readonly<Record<string, unknown>>>(
  method: Method<Input, Output>,
  declared: CallDeclaration<Input, Output, Values>,
): CommandMaker {
  return command<Input, Values>(method, declared, async (run, filled) => {
    const { context } = run;
    const request: MessageInitShape<Input> = { ...filled, ...(await declared.request?.(run)) };
    const callMethod = await callerOf(method, run);
    const made = { ...run, request };
    const answer = await (declared.makes?.(callMethod, made) ?? callMethod(request));
    if (declared.result !== undefined && answer[declared.result] === undefined) return;
    if (run.asJson) context.print(jsonOf(method, declared, answer, request));
    else for (const line of await linesOf(declared.shows, answer, made)) context.print(line);
    for (const line of await linesOf(declared.notes ?? [], answer, made)) context.note(line);
  });
}

function jsonOf<Input extends DescMessage, Output extends DescMessage>(
  { output }: Method<Input, Output>,
  { result, deleted, ended }: Pick<CallDeclaration<Input, Output, unknown>, "result" | "deleted" | "ended">,
  answer: MessageShape<Output>,
  request: MessageInitShape<Input>,
): string {
  const fields = request as Readonly<Record<string, unknown>>;
  // A trial run deletes nothing, so it prints the answer.
  if (deleted !== undefined && fields["dryRun"] !== true) return JSON.stringify({ deleted: fields[deleted] });
  if (ended !== undefined) return JSON.stringify({ ended: fields[ended] });
  const value: unknown = result === undefined ? answer : answer[result];
  const field = output.fields.find(({ localName }) => localName === result);
  const schema = field?.fieldKind === "message" ? field.message : output;
  return isMessage(value, schema) ? messageText(schema, value) : JSON.stringify(value);
}

async function linesOf<Answer, CompletedCall extends { readonly request: unknown }>(
  shows: Lines | ((answer: Answer, made: CompletedCall) => Lines | Promise<Lines>),
  answer: Answer,
  made: CompletedCall,
): Promise<readonly string[]> {
  if (typeof shows === "function") return [await shows(answer, made)].flat();
  const fields = made.request as Readonly<Record<string, unknown>>;
  return [shows].flat().map((line) => line.replace(/\{(\w+)\}/g, (_, field) => plainText(String(fields[field]))));
}

/** Names of those fields of an API answer that are lists of messages. A command shows such a list as the rows of a table. */
type RowsField<Output extends DescMessage> = {
  [Name in FieldName<Output>]: MessageShape<Output>[Name] extends readonly object[] ? Name : never;
}[FieldName<Output>];

type RowOf<
  Output extends DescMessage,
  Rows extends FieldName<Output>,
> = MessageShape<Output>[Rows] extends readonly (infer Row)[] ? Row : never;

/** A cell of a table: the name of the shown field, or a function that returns the text for a row. */
type Cell<Row> = (keyof Row & string) | ((row: Row) => string);

/**
 * The declaration of a command that shows a list from the answers of a method. If the method has pages, the command reads them one after
 * the other.
 */
type ListDeclaration<
  Input extends DescMessage,
  Output extends DescMessage,
  Rows extends FieldName<Output>,
  Values,
> = CommandDeclaration<Input> & {
  readonly request?: (run: Run<Values>) => MessageInitShape<Input> | Promise<MessageInitShape<Input>>;
  /** The field of the answer that contains the list. */
  readonly rows: Rows;
  /** The cells of a row by column heading, or a function that returns the lines of the table. */
  readonly table:
    | Readonly<Record<string, Cell<RowOf<Output, Rows>>>>
    | ((rows: readonly RowOf<Output, Rows>[], run: Run<Values>) => readonly string[] | Promise<readonly string[]>);
  /** Returns true if the command shows the row. Default: it shows all rows. */
  readonly keeps?: (row: RowOf<Output, Rows>, values: Values) => boolean;
  /** True if `--json` prints each row on its own line. Otherwise it prints one JSON list. */
  readonly isLines?: true;
  /** Number of rows that the command requests per page of the API's list. Default: 500. */
  readonly pageSize?: number;
  /** Prints a remark after the list, for example why the list is empty. If absent, the command prints no remark. */
  readonly remark?: (rows: readonly RowOf<Output, Rows>[], run: Run<Values>) => void | Promise<void>;
};

/**
 * Returns a command that lists the rows in the responses of an API method. It reads page after page. With the option `--limit`, it stops
 * after that number of rows.
 */
export function list<
  Input extends DescMessage,
  Output extends DescMessage,
  Rows extends RowsField<Output>,
  Values = Readonly<Record<string, unknown>>,
>(method: Method<Input, Output>, declared: ListDeclaration<Input, Output, Rows, Values>): CommandMaker {
  type Row = RowOf<Output, Rows>;
  const field = method.output.fields.find(({ localName }) => localName === declared.rows);
  const schema = field?.fieldKind === "list" ? field.message : undefined;
  if (schema === undefined) throw new TypeError(`${method.output.name} has no list of messages ${declared.rows}`);
  return command<Input, Values>(method, declared, async (run, filled) => {
    const { context } = run;
    const values = run.values as Readonly<Record<string, unknown>>;
    const request = { ...filled, ...(await declared.request?.(run)) };
    const limit = typeof values["limit"] === "number" ? values["limit"] : Number.POSITIVE_INFINITY;
    const callMethod = await callerOf(method, run);
    const hasPages = method.input.fields.some(({ localName }) => localName === "pageToken");
    const found = await collectPages<Row>(async (pageToken) => {
      const page = hasPages ? { pageSize: Math.min(limit, declared.pageSize ?? 500), pageToken } : {};
      const answer: Readonly<Record<string, unknown>> = await callMethod({ ...request, ...page });
      const { nextPageToken = "" } = answer as { nextPageToken?: string };
      return { items: answer[declared.rows] as readonly Row[], nextPageToken };
    }, limit);
    const rows = found.filter((row) => declared.keeps?.(row, run.values) ?? true);
    const messages = rows as MessageShape<typeof schema>[];
    if (run.asJson && declared.isLines) for (const message of messages) context.print(messageLine(schema, message));
    else if (run.asJson) context.print(messageListText(schema, messages));
    else for (const line of await tableOf(declared.table, rows, run)) context.print(line);
    await declared.remark?.(rows, run);
  });
}

function tableOf<Row, Values>(
  table:
    | Readonly<Record<string, Cell<Row>>>
    | ((rows: readonly Row[], run: Run<Values>) => readonly string[] | Promise<readonly string[]>),
  rows: readonly Row[],
  run: Run<Values>,
): readonly string[] | Promise<readonly string[]> {
  if (typeof table === "function") return table(rows, run);
  const cells = Object.values(table);
  return tableLines(
    Object.keys(table),
    rows.map((row) => cells.map((cell) => (typeof cell === "function" ? cell(row) : cellText(row[cell])))),
  );
}

/** Returns the text of a table cell: times in RFC 3339, booleans as yes or no, lists with commas between the items. */
function cellText(value: unknown): string {
  if (value === undefined) return "-";
  if (isMessage(value, TimestampSchema)) return timeText(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  return Array.isArray(value) ? value.join(",") : plainText(String(value));
}
