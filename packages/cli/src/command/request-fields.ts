import type { DescField, DescMessage, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { DurationSchema, durationFromMs, TimestampSchema, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Argument, Option } from "commander";
import { type ConfirmOptions, confirmOf, parseMoment, parseSpan, parseWords } from "./options.ts";

/** The names of the fields of an API message, as TypeScript code writes them. */
export type FieldName<Desc extends DescMessage> = Exclude<keyof MessageShape<Desc> & string, "$typeName" | "$unknown">;

/**
 * Rule by which a command reads the text of an argument or option. Without this rule, the command reads the text by the type of the request
 * field that gets the value.
 */
type ReadRule<Field extends string> = {
  /** The request field that the value of the argument or option fills. Default: the field with the same name. */
  readonly fills?: Field;
  /** The name that the service's error messages use for this request field. Absent if it is the field's own name. */
  readonly named?: string;
  readonly choices?: readonly string[];
  /**
   * Converts the text that the user typed for this option into the option's value. Throws InvalidArgumentError if the text is not valid.
   */
  readonly parse?: (text: string, before: never) => unknown;
  readonly default?: unknown;
  /** The default value of the option in words, which the help shows instead of the value itself. */
  readonly defaultText?: string;
  readonly conflicts?: string;
  readonly required?: true;
};

/** The declaration of an option: its flags, its help text, and how the command reads it. */
export type OptionDeclaration<Field extends string> = readonly [flags: string, help: string, reading?: ReadRule<Field>];

/**
 * The declarations of a command's arguments, in order. The keys are `<name>` or `[name]`. The values are the help texts and how the command
 * reads the arguments.
 */
export type ArgumentDeclarations<Field extends string> = Readonly<
  Record<string, string | readonly [help: string, reading: ReadRule<Field>]>
>;

/** The arguments and options of a command. `hasConfirm`: true if the command also has the options for confirmations. */
export type CommandParts<Field extends string> = {
  readonly takes?: ArgumentDeclarations<Field>;
  readonly options?: readonly OptionDeclaration<Field>[];
  readonly hasConfirm?: true;
};

/**
 * Returns a command-line argument as an object of the library commander. `shown`: how the help writes the argument. `given`: its
 * declaration.
 */
export function argumentOf(shown: string, given: ArgumentDeclarations<string>[string], input?: DescMessage): Argument {
  const [help, reading = {}] = typeof given === "string" ? [given] : given;
  const argument = new Argument(shown, help);
  const parse = reading.parse ?? readerOf(fieldOf(input, reading.fills ?? argument.name()));
  if (parse !== undefined) argument.argParser(parse as (text: string, before: unknown) => unknown);
  if (reading.choices !== undefined) argument.choices([...reading.choices]);
  return argument;
}

/** Returns the option, as an object of the library commander, for a declaration. */
export function optionOf([flags, help, reading = {}]: OptionDeclaration<string>, input?: DescMessage): Option {
  const option = new Option(flags, help);
  const parse = reading.parse ?? readerOf(fieldOf(input, reading.fills ?? option.attributeName()));
  if (parse !== undefined) option.argParser(parse as (text: string, before: unknown) => unknown);
  if (reading.choices !== undefined) option.choices([...reading.choices]);
  if ("default" in reading) option.default(reading.default, reading.defaultText);
  if (reading.conflicts !== undefined) option.conflicts(reading.conflicts);
  return option.makeOptionMandatory(reading.required === true);
}

/**
 * An argument or option of a command whose value is sent in a request field. `name`: the name of the argument or option in the code.
 * `shown`: its name as the user types it.
 */
type RequestFilling = {
  readonly name: string;
  readonly shown: string;
  readonly field: DescField;
  readonly named?: string | undefined;
};

/** Returns the arguments and options of a command that fill request fields. */
export function fillingsOf<Input extends DescMessage>(
  input: Input | undefined,
  { takes = {}, options = [] }: CommandParts<FieldName<Input>>,
): readonly RequestFilling[] {
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

/** Returns the request fields that the arguments and options of a command fill. */
export function filledRequest<Input extends DescMessage>(
  input: Input | undefined,
  declared: CommandParts<FieldName<Input>>,
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

function fieldOf(input: DescMessage | undefined, name: string): DescField | undefined {
  return input?.fields.find(({ localName }) => localName === name);
}

/**
 * Returns the function that converts a typed text for a request field. Returns undefined for text and boolean fields, because commander
 * reads these.
 */
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
