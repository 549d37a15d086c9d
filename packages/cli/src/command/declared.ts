import type { DescField, DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { DurationSchema, durationFromMs, TimestampSchema, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { SvcAdminClient, SvcClient } from "@svc/sdk";
import { Argument, type Command, Option } from "commander";
import {
  type AdminOptions,
  addAdminOptions,
  addProjectOptions,
  openAdminClient,
  openProjectClient,
  type ProjectOptions,
} from "../client/open-client.ts";
import type { CommandContext } from "./context.ts";
import { addExamples } from "./examples.ts";
import {
  addConfirm,
  addJson,
  type ConfirmOptions,
  confirmOf,
  type JsonOption,
  parseMoment,
  parseSpan,
  parseWords,
} from "./options.ts";

/** A unary method of the contract. */
export type Method<Input extends DescMessage = DescMessage, Output extends DescMessage = DescMessage> = DescMethodUnary<
  Input,
  Output
>;

/** Names of a message's fields in code. */
export type FieldName<Desc extends DescMessage> = Exclude<keyof MessageShape<Desc> & string, "$typeName" | "$unknown">;

/** Rules for reading an argument or option. Default: the type of the request field that it fills. */
type Reading<Field extends string> = {
  /** The request field that it fills; the field of its own name unless stated. */
  readonly fills?: Field;
  readonly choices?: readonly string[];
  /** Reads the text; throws InvalidArgumentError. */
  readonly parse?: (text: string, before: never) => unknown;
  readonly default?: unknown;
  /** The default in words. */
  readonly defaultText?: string;
  readonly conflicts?: string;
  readonly required?: true;
};

/** An option: its flags, its help, and how it is read. */
export type OptionDeclaration<Field extends string> = readonly [flags: string, help: string, reading?: Reading<Field>];

/** The arguments of a command in order, by `<name>` or `[name]`: their help, and how they are read. */
export type ArgumentDeclarations<Field extends string> = Readonly<
  Record<string, string | readonly [help: string, reading: Reading<Field>]>
>;

/** The help of a command, and what it takes. */
export type CommandDeclaration<Input extends DescMessage> = {
  readonly says: string;
  readonly isDefault?: true;
  readonly alias?: string;
  readonly takes?: ArgumentDeclarations<FieldName<Input>>;
  readonly options?: readonly OptionDeclaration<FieldName<Input>>[];
  /** True if the options of confirmations are added. */
  readonly hasConfirm?: true;
  /** The words after "print" in the help of `--json`. */
  readonly json?: string;
  /** Help between the options and the examples. */
  readonly more?: string;
  readonly examples: readonly string[];
};

/** A command under way: its arguments and options by name, and clients opened by them. */
export type Run<Values> = {
  readonly values: Values;
  readonly context: CommandContext;
  readonly asJson: boolean;
  project(): Promise<SvcClient>;
  admin(): SvcAdminClient;
};

/** Adds a declared command that makes calls of a method; `run` does what it is for. */
export function addDeclared<Input extends DescMessage, Values>(
  parent: Command,
  context: CommandContext,
  { name, method, declared }: { name: string; method: Method<Input>; declared: CommandDeclaration<Input> },
  run: (run: Run<Values>) => Promise<void>,
): void {
  const { takes = {}, options = [], isDefault } = declared;
  const command = parent.command(name, isDefault === true ? { isDefault } : {}).description(declared.says);
  if (declared.alias !== undefined) command.alias(declared.alias);
  for (const [shown, given] of Object.entries(takes)) command.addArgument(argumentOf(shown, given, method.input));
  for (const declaration of options) command.addOption(optionOf(declaration, method.input));
  if (declared.hasConfirm) addConfirm(command);
  addJson(command, declared.json);
  (isOfAdmin(method) ? addAdminOptions : addProjectOptions)(command);
  if (declared.more !== undefined) command.addHelpText("after", declared.more);
  addExamples(command, declared.examples);
  command.action(async () => {
    const given = command.opts<ProjectOptions & AdminOptions & JsonOption>();
    const named = Object.fromEntries(
      command.registeredArguments.map((argument, index) => [argument.name(), command.processedArgs[index]]),
    );
    let client: Promise<SvcClient> | undefined;
    let admin: SvcAdminClient | undefined;
    await run({
      // Commander's values are of the types that the declaration's readers return.
      values: { ...given, ...named } as Values,
      context,
      asJson: given.json === true,
      project: () => (client ??= openProjectClient(given, context)),
      admin: () => (admin ??= openAdminClient(given, context)),
    });
  });
}

function argumentOf(shown: string, given: ArgumentDeclarations<string>[string], input: DescMessage): Argument {
  const [help, reading = {}] = typeof given === "string" ? [given] : given;
  const argument = new Argument(shown, help);
  const parse = reading.parse ?? readerOf(fieldOf(input, reading.fills ?? argument.name()));
  if (parse !== undefined) argument.argParser(parse as (text: string, before: unknown) => unknown);
  if (reading.choices !== undefined) argument.choices([...reading.choices]);
  return argument;
}

function optionOf([flags, help, reading = {}]: OptionDeclaration<string>, input: DescMessage): Option {
  const option = new Option(flags, help);
  const parse = reading.parse ?? readerOf(fieldOf(input, reading.fills ?? option.attributeName()));
  if (parse !== undefined) option.argParser(parse as (text: string, before: unknown) => unknown);
  if (reading.choices !== undefined) option.choices([...reading.choices]);
  if ("default" in reading) option.default(reading.default, reading.defaultText);
  if (reading.conflicts !== undefined) option.conflicts(reading.conflicts);
  return option.makeOptionMandatory(reading.required === true);
}

/** Returns the part of a request that arguments and options fill by themselves. */
export function filledRequest<Input extends DescMessage>(
  { input }: Method<Input>,
  { takes = {}, options = [], hasConfirm }: CommandDeclaration<Input>,
  values: Readonly<Record<string, unknown>>,
): MessageInitShape<Input> {
  const readings = [
    ...Object.entries(takes).map(([shown, given]) => ({
      name: new Argument(shown).name(),
      fills: typeof given === "string" ? undefined : given[1].fills,
    })),
    ...options.map(([flags, , reading]) => ({ name: new Option(flags).attributeName(), fills: reading?.fills })),
  ];
  const filled = readings.flatMap(({ name, fills = name }) => {
    const field = fieldOf(input, fills);
    return field === undefined || values[name] === undefined
      ? []
      : [[field.localName, convertedValue(field, values[name])]];
  });
  return {
    ...Object.fromEntries(filled),
    ...(hasConfirm && confirmOf(values as ConfirmOptions)),
  } as MessageInitShape<Input>;
}

/** Returns the function of a client that makes calls of a method. */
export async function callerOf<Input extends DescMessage, Output extends DescMessage>(
  method: Method<Input, Output>,
  run: Pick<Run<unknown>, "project" | "admin">,
): Promise<(request: MessageInitShape<Input>) => Promise<MessageShape<Output>>> {
  const clients: object = isOfAdmin(method) ? run.admin() : await run.project();
  const name = method.parent.name.replace(/Service$/, "").toLowerCase();
  // The client of a service has a function for each of its methods.
  const service = (clients as Record<string, object>)[name] as Record<
    string,
    (request: MessageInitShape<Input>) => Promise<MessageShape<Output>>
  >;
  return (request) => {
    const call = service[method.localName];
    if (call === undefined) throw new TypeError(`the client has no ${method.parent.name}/${method.name}`);
    return call(request);
  };
}

function isOfAdmin({ parent }: Pick<Method, "parent">): boolean {
  return parent.name === "AdminService";
}

function fieldOf(input: DescMessage, name: string): DescField | undefined {
  return input.fields.find(({ localName }) => localName === name);
}

/** The reader of texts for a field; undefined for texts and switches, which commander reads. */
function readerOf(field: DescField | undefined): ((text: string) => unknown) | undefined {
  if (field?.fieldKind === "list") return parseWords;
  if (field?.fieldKind !== "message") return undefined;
  if (field.message.typeName === TimestampSchema.typeName) return parseMoment;
  return field.message.typeName === DurationSchema.typeName ? parseSpan : undefined;
}

function convertedValue(field: DescField, value: unknown): unknown {
  if (field.fieldKind !== "message" || typeof value !== "number") return value;
  return field.message.typeName === TimestampSchema.typeName ? timestampFromMs(value) : durationFromMs(value);
}
