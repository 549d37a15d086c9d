import type {
  DescField,
  DescMessage,
  DescMethod,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import { DurationSchema, durationFromMs, TimestampSchema, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { SvcAdminClient, SvcClient } from "@svc/sdk";
import { Argument, type Command, Option } from "commander";
import {
  type AdminOptions,
  addAdminOptions,
  addProjectOptions,
  addServerOptions,
  openAdminClient,
  openProjectClient,
  type ProjectOptions,
} from "./client.ts";
import type { CommandContext } from "./context.ts";
import {
  addConfirm,
  addExamples,
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

/** A method of the contract, streaming ones among them. */
type AnyMethod<Input extends DescMessage> = Pick<DescMethod, "name" | "parent"> & { readonly input: Input };

/** Names of a message's fields in code. */
export type FieldName<Desc extends DescMessage> = Exclude<keyof MessageShape<Desc> & string, "$typeName" | "$unknown">;

/** Rules for reading an argument or option. Default: the type of the request field that it fills. */
type Reading<Field extends string> = {
  /** The request field that it fills; the field of its own name unless stated. */
  readonly fills?: Field;
  /** The field that refusals name for it, if that is another. */
  readonly named?: string;
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
  /** Options behind `--json`. */
  readonly lastOptions?: readonly OptionDeclaration<FieldName<Input>>[];
  /** True if further arguments are passed to the command as `more`. */
  readonly takesMore?: true;
  /** True if the options of confirmations are added. */
  readonly hasConfirm?: true;
  /** The words after "print" in the help of `--json`. */
  readonly json?: string;
  /** Help between the options and the examples. */
  readonly more?: string;
  readonly examples: readonly string[];
  /** Whose options the command has; those of the method's callers unless stated. */
  readonly client?: keyof typeof addClientOptions;
  /** The command as texts name it; its path unless stated. */
  readonly shown?: string;
  /** What follows the command in texts that name its method. */
  readonly words?: string;
  /** Other methods that texts name the command for, each with what follows the command there. */
  readonly also?: readonly (readonly [method: Pick<Method, "name">, words?: string])[];
};

/** A command under way: its arguments and options by name, and clients opened by them. */
export type Run<Values> = {
  readonly values: Values;
  readonly context: CommandContext;
  readonly asJson: boolean;
  /** Arguments beyond those that are declared. */
  readonly more: readonly string[];
  project(): Promise<SvcClient>;
  admin(): SvcAdminClient;
};

/** Adds a command to its parent under a name. */
export type CommandMaker = ((parent: Command, context: CommandContext, name: string) => void) & {
  /** The methods that texts name the command for, and the words behind it in the place of some. */
  readonly methods?: readonly NamedMethod[];
  /** The command as texts name it; its path unless stated. */
  readonly shown?: string | undefined;
  /** The commands of a topic. */
  readonly commands?: Readonly<Record<string, CommandMaker>>;
};

type NamedMethod = { readonly name: string; readonly words?: string | undefined };

/** Declares a command; the first of its methods says whose options it has, and how those that fill a request are read. */
export function command<Input extends DescMessage, Values = Readonly<Record<string, unknown>>>(
  method: AnyMethod<Input> | undefined,
  declared: CommandDeclaration<Input>,
  run: (run: Run<Values>) => Promise<void> | void,
): CommandMaker {
  const make = (parent: Command, context: CommandContext, name: string): void => {
    const made = parent.command(name, declared.isDefault === true ? { isDefault: true } : {});
    describe(made, method, declared);
    made.action(() => run(runOf<Values>(made, context)));
  };
  const also = (declared.also ?? []).map(([{ name }, words]) => ({ name, words }));
  return Object.assign(make, {
    methods: [...(method === undefined ? [] : [{ name: method.name, words: declared.words }]), ...also],
    shown: declared.shown,
  });
}

const optionsOf = new WeakMap<Command, ReadonlyMap<string, string>>();

/** The options and arguments of a command by the request fields that they fill. */
export function optionsByField(made: Command): ReadonlyMap<string, string> {
  return optionsOf.get(made) ?? new Map();
}

/** Gives a command its help, and what it takes. */
function describe<Input extends DescMessage>(
  made: Command,
  method: AnyMethod<Input> | undefined,
  declared: CommandDeclaration<Input>,
): void {
  const { takes = {}, options = [], lastOptions = [] } = declared;
  made.description(declared.says);
  if (declared.alias !== undefined) made.alias(declared.alias);
  for (const [shown, given] of Object.entries(takes)) made.addArgument(argumentOf(shown, given, method?.input));
  for (const declaration of options) made.addOption(optionOf(declaration, method?.input));
  if (declared.hasConfirm) addConfirm(made);
  if (declared.takesMore) made.allowExcessArguments();
  addJson(made, declared.json);
  for (const declaration of lastOptions) made.addOption(optionOf(declaration, method?.input));
  addClientOptions[declared.client ?? (method === undefined || !isOfAdmin(method) ? "project" : "admin")](made);
  if (declared.more !== undefined) made.addHelpText("after", declared.more);
  addExamples(made, declared.examples);
  optionsOf.set(
    made,
    new Map(fillingsOf(method?.input, declared).map(({ field, named, shown }) => [named ?? field.localName, shown])),
  );
}

const addClientOptions = {
  project: addProjectOptions,
  admin: addAdminOptions,
  server: addServerOptions,
  none: (made: Command) => made,
} as const;

function runOf<Values>(made: Command, context: CommandContext): Run<Values> {
  const given = made.opts<ProjectOptions & AdminOptions & JsonOption>();
  const named = Object.fromEntries(
    made.registeredArguments.map((argument, index) => [argument.name(), made.processedArgs[index]]),
  );
  let client: Promise<SvcClient> | undefined;
  let admin: SvcAdminClient | undefined;
  return {
    // Commander's values are of the types that the declaration's readers return.
    values: { ...given, ...named } as Values,
    context,
    asJson: given.json === true,
    more: made.args.slice(made.registeredArguments.length),
    project: () => (client ??= openProjectClient(given, context)),
    admin: () => (admin ??= openAdminClient(given, context)),
  };
}

function argumentOf(shown: string, given: ArgumentDeclarations<string>[string], input?: DescMessage): Argument {
  const [help, reading = {}] = typeof given === "string" ? [given] : given;
  const argument = new Argument(shown, help);
  const parse = reading.parse ?? readerOf(fieldOf(input, reading.fills ?? argument.name()));
  if (parse !== undefined) argument.argParser(parse as (text: string, before: unknown) => unknown);
  if (reading.choices !== undefined) argument.choices([...reading.choices]);
  return argument;
}

function optionOf([flags, help, reading = {}]: OptionDeclaration<string>, input?: DescMessage): Option {
  const option = new Option(flags, help);
  const parse = reading.parse ?? readerOf(fieldOf(input, reading.fills ?? option.attributeName()));
  if (parse !== undefined) option.argParser(parse as (text: string, before: unknown) => unknown);
  if (reading.choices !== undefined) option.choices([...reading.choices]);
  if ("default" in reading) option.default(reading.default, reading.defaultText);
  if (reading.conflicts !== undefined) option.conflicts(reading.conflicts);
  return option.makeOptionMandatory(reading.required === true);
}

/** An argument or option that fills a field of the request: its name in code, and as it is typed. */
type Filling = {
  readonly name: string;
  readonly shown: string;
  readonly field: DescField;
  readonly named?: string | undefined;
};

function fillingsOf<Input extends DescMessage>(
  input: Input | undefined,
  { takes = {}, options = [] }: CommandDeclaration<Input>,
): readonly Filling[] {
  const given = [
    ...Object.entries(takes).map(([shown, taken]) => {
      const name = new Argument(shown).name();
      return { name, shown: name, reading: typeof taken === "string" ? {} : taken[1] };
    }),
    ...options.map(([flags, , reading = {}]) => {
      const option = new Option(flags);
      return { name: option.attributeName(), shown: option.long ?? flags, reading };
    }),
  ];
  return given.flatMap(({ name, shown, reading: { fills = name, named } }) => {
    const field = fieldOf(input, fills);
    return field === undefined ? [] : [{ name, shown, field, named }];
  });
}

/** Returns the part of a request that arguments and options fill by themselves. */
export function filledRequest<Input extends DescMessage>(
  { input }: Method<Input>,
  declared: CommandDeclaration<Input>,
  values: Readonly<Record<string, unknown>>,
): MessageInitShape<Input> {
  const filled = fillingsOf(input, declared).flatMap(({ name, field }) =>
    values[name] === undefined ? [] : [[field.localName, convertedValue(field, values[name])]],
  );
  return {
    ...Object.fromEntries(filled),
    ...(declared.hasConfirm && confirmOf(values as ConfirmOptions)),
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

function isOfAdmin({ parent }: Pick<DescMethod, "parent">): boolean {
  return parent.name === "AdminService";
}

function fieldOf(input: DescMessage | undefined, name: string): DescField | undefined {
  return input?.fields.find(({ localName }) => localName === name);
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
