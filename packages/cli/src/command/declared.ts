import type { DescMessage, DescMethod, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { SvcAdminClient, SvcClient } from "@svc/sdk";
import type { Command } from "commander";
import {
  type AdminOptions,
  addAdminOptions,
  addBothOptions,
  addProjectOptions,
  addServerOptions,
  openAdminClient,
  openProjectClient,
  type ProjectOptions,
} from "./client.ts";
import type { CommandContext } from "./context.ts";
import { addConfirm, addExamples, addJson, type JsonOption } from "./options.ts";
import {
  type ArgumentDeclarations,
  argumentOf,
  type FieldName,
  filledRequest,
  fillingsOf,
  type OptionDeclaration,
  optionOf,
} from "./request-fields.ts";

/** A method of the API with one request and one answer (unary), as generated from the API contract. */
export type Method<Input extends DescMessage = DescMessage, Output extends DescMessage = DescMessage> = DescMethodUnary<
  Input,
  Output
>;

/** A method of the API, as generated from the contract, with one answer (unary) or with a stream of answers. */
type AnyMethod<Input extends DescMessage> = Pick<DescMethod, "name" | "parent"> & { readonly input: Input };

/** The declaration of a command: its help, arguments and options. */
export type CommandDeclaration<Input extends DescMessage> = {
  readonly says: string;
  readonly isDefault?: true;
  readonly alias?: string;
  readonly takes?: ArgumentDeclarations<FieldName<Input>>;
  readonly options?: readonly OptionDeclaration<FieldName<Input>>[];
  /** Options that the help lists after `--json`. */
  readonly lastOptions?: readonly OptionDeclaration<FieldName<Input>>[];
  /** True if the command accepts arguments in addition to the declared ones. The command receives them as `more`. */
  readonly takesMore?: true;
  /**
   * True if the command gets the options `--confirm`, `--confirm-by` and `--confirm-in-client`, which set which tool calls a person must
   * confirm.
   */
  readonly hasConfirm?: true;
  /** The words that follow "print" in the help text of the command's option `--json`, such as "the job as JSON". */
  readonly json?: string;
  /** Help text between the options and the examples. */
  readonly more?: string;
  readonly examples: readonly string[];
  /**
   * The kind of API client that the command uses, for example for a project or for the administrator. It determines the command line
   * options for the credential. Default: the kind that may call the command's API method.
   */
  readonly client?: keyof typeof addClientOptions;
  /** The name of the command in error messages and advice. Default: the command's path (for example `svc jobs park`). */
  readonly shown?: string;
  /** Options or arguments, such as `--since`, that error messages write after the name of the command. */
  readonly words?: string;
  /** Further API methods that this command stands for. Messages show the command, followed by `words`, instead of the method's name. */
  readonly also?: readonly (readonly [method: Pick<Method, "name">, words?: string])[];
};

/** One run of a command: its arguments and options by name, and functions that open clients. */
export type Run<Values> = {
  readonly values: Values;
  readonly context: CommandContext;
  readonly asJson: boolean;
  /** Arguments on the command line after those that the command declares. Empty unless the command accepts more arguments. */
  readonly more: readonly string[];
  project(): Promise<SvcClient>;
  admin(): SvcAdminClient;
};

/** A function that adds a command with a given name to its parent command. */
export type CommandMaker = ((parent: Command, context: CommandContext, name: string) => void) & {
  /**
   * API methods whose names svc replaces by this command in messages. `words`: options that svc writes after the command, for example
   * `--since`.
   */
  readonly methods?: readonly NamedMethod[];
  /** The name of the command in error messages and advice. Default: the command's path (for example `svc jobs park`). */
  readonly shown?: string | undefined;
  /** The commands of a group, by name, if this command is a group of commands (such as `svc jobs`). */
  readonly commands?: Readonly<Record<string, CommandMaker>>;
};

type NamedMethod = { readonly name: string; readonly words?: string | undefined };

/**
 * Returns the command for a method of the API. The method determines the command's options for the credential. It determines the types of
 * the options that fill the request. `run`: the function that runs the command; it receives the filled request fields.
 */
export function command<Input extends DescMessage, Values = Readonly<Record<string, unknown>>>(
  method: AnyMethod<Input> | undefined,
  declared: CommandDeclaration<Input>,
  run: (run: Run<Values>, request: MessageInitShape<Input>) => Promise<void> | void,
): CommandMaker {
  const make = (parent: Command, context: CommandContext, name: string): void => {
    const made = parent.command(name, declared.isDefault === true ? { isDefault: true } : {});
    describe(made, method, declared);
    made.action(() => {
      const under = runOf<Values>(made, context);
      return run(under, filledRequest(method?.input, declared, under.values as Readonly<Record<string, unknown>>));
    });
  };
  const also = (declared.also ?? []).map(([{ name }, words]) => ({ name, words }));
  return Object.assign(make, {
    methods: [...(method === undefined ? [] : [{ name: method.name, words: declared.words }]), ...also],
    shown: declared.shown,
  });
}

const optionsOf = new WeakMap<Command, ReadonlyMap<string, string>>();

/** Returns the options and arguments of a command, by the request fields that they fill. */
export function optionsByField(made: Command): ReadonlyMap<string, string> {
  return optionsOf.get(made) ?? new Map();
}

/** Adds the declared help, arguments and options to a command of the command line library. */
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
  /** Options for an administrator and for a project's key. With `--private`, a command uses the project's key. */
  either: addBothOptions,
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
    // The readers in the command's declaration give the values these types. The library commander does not know them, so the values are
    // cast.
    values: { ...given, ...named } as Values,
    context,
    asJson: given.json === true,
    more: made.args.slice(made.registeredArguments.length),
    project: () => (client ??= openProjectClient(given, context)),
    admin: () => (admin ??= openAdminClient(given, context)),
  };
}

/**
 * Returns a function that makes calls of the API method. It uses the client for the project, for the administrator, or the one that the
 * command's options select.
 */
export async function callerOf<Input extends DescMessage, Output extends DescMessage>(
  method: Method<Input, Output>,
  run: Pick<Run<unknown>, "project" | "admin" | "values">,
): Promise<(request: MessageInitShape<Input>) => Promise<MessageShape<Output>>> {
  const isOwn = isOfAdmin(method) && (run.values as { readonly private?: true }).private === true;
  const clients: object = isOfAdmin(method) && !isOwn ? run.admin() : await run.project();
  // The only calls of the administrator that a project can make itself are those for quarantined posts.
  const name = isOwn ? "triggers" : method.parent.name.replace(/Service$/, "").toLowerCase();
  // The client of a service has one function for each method of the service.
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
