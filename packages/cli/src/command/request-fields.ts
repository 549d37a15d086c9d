import type { DescField, DescMessage, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { DurationSchema, durationFromMs, TimestampSchema, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Argument, Option } from "commander";
import { type ConfirmOptions, confirmOf, parseMoment, parseSpan, parseWords } from "./options.ts";

/** Names of a message's fields in code. */
export type FieldName<Desc extends DescMessage> = Exclude<keyof MessageShape<Desc> & string, "$typeName" | "$unknown">;

/** How an argument or option is read. Default: by the type of the request field that it fills. */
type ReadRule<Field extends string> = {
  /** The request field that the value fills. Default: the field with the same name as the option. */
  readonly fills?: Field;
  /** The field that refusals name for this option, if it is another field. */
  readonly named?: string;
  readonly choices?: readonly string[];
  /** Reads the text. Throws InvalidArgumentError. */
  readonly parse?: (text: string, before: never) => unknown;
  readonly default?: unknown;
  /** The default in words. */
  readonly defaultText?: string;
  readonly conflicts?: string;
  readonly required?: true;
};

/** An option: its flags, its help, and how it is read. */
export type OptionDeclaration<Field extends string> = readonly [flags: string, help: string, reading?: ReadRule<Field>];

/** The arguments of a command in order, by `<name>` or `[name]`: their help, and how they are read. */
export type ArgumentDeclarations<Field extends string> = Readonly<
  Record<string, string | readonly [help: string, reading: ReadRule<Field>]>
>;

/** The arguments and options of a command. Also whether it has the options for confirmations. */
export type CommandParts<Field extends string> = {
  readonly takes?: ArgumentDeclarations<Field>;
  readonly options?: readonly OptionDeclaration<Field>[];
  readonly hasConfirm?: true;
};

/** Creates an argument from its declaration. */
export function argumentOf(shown: string, given: ArgumentDeclarations<string>[string], input?: DescMessage): Argument {
  const [help, reading = {}] = typeof given === "string" ? [given] : given;
  const argument = new Argument(shown, help);
  const parse = reading.parse ?? readerOf(fieldOf(input, reading.fills ?? argument.name()));
  if (parse !== undefined) argument.argParser(parse as (text: string, before: unknown) => unknown);
  if (reading.choices !== undefined) argument.choices([...reading.choices]);
  return argument;
}

/** Creates an option from its declaration. */
export function optionOf([flags, help, reading = {}]: OptionDeclaration<string>, input?: DescMessage): Option {
  const option = new Option(flags, help);
  const parse = reading.parse ?? readerOf(fieldOf(input, reading.fills ?? option.attributeName()));
  if (parse !== undefined) option.argParser(parse as (text: string, before: unknown) => unknown);
  if (reading.choices !== undefined) option.choices([...reading.choices]);
  if ("default" in reading) option.default(reading.default, reading.defaultText);
  if (reading.conflicts !== undefined) option.conflicts(reading.conflicts);
  return option.makeOptionMandatory(reading.required === true);
}

/** An argument or option that fills a request field: its name in code, and as it is typed. */
type RequestFilling = {
  readonly name: string;
  readonly shown: string;
  readonly field: DescField;
  readonly named?: string | undefined;
};

/** Returns the arguments and options that fill request fields. */
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

/** Returns the part of a request that arguments and options fill. */
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

/** Returns the reader of texts for a field. Returns undefined for texts and switches, because commander reads these itself. */
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
