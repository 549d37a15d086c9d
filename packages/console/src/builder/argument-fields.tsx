import type { Transport } from "@connectrpc/connect";
import { createQueryOptions, useTransport } from "@connectrpc/connect-query";
import type { ProgramName } from "@svc/gen/jobs";
import { ToolsService } from "@svc/gen/tools";
import { useQuery } from "@tanstack/react-query";
import { useRef } from "react";
import { pointerTo } from "../form/faults.ts";
import { Field } from "../form/field.tsx";
import { type FieldSpec, readSchema } from "../form/read-schema.ts";
import { valuesOf } from "../form/value.ts";
import { fieldText } from "../json/value.ts";
import { type Builder, faultOf, faultWithin } from "./builder.ts";
import { JsonField } from "./json-field.tsx";
import type { StepNode } from "./step-tree.ts";
import { ValueField } from "./value-field.tsx";
import { formOf, holdsForms, namedWords } from "./values.ts";

/**
 * The fields of the form for a tool's arguments, the required ones first. `shown`: names of the fields that are always visible. `unknown`:
 * names of arguments that the program sets and the tool does not have.
 */
export type ArgumentsForm = {
  readonly fields: readonly FieldSpec[];
  readonly shown: ReadonlySet<string>;
  readonly unknown: readonly string[];
};

/**
 * Returns the query that reads the definition of a tool. It makes one call and does not retry an error, because a program may name a tool
 * that does not exist.
 */
export function toolQuery(slug: string, transport: Transport) {
  return {
    ...createQueryOptions(ToolsService.method.describeTool, { slug }, { transport }),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  };
}

/**
 * Returns the slug (the name in the API) of the tool or skill that a step calls. Empty if the step calls none, or if the slug is not typed
 * completely.
 */
export function toolOf({ kind, step }: StepNode): string {
  const slug = kind === "call" || kind === "run" ? fieldText(step[kind]) : "";
  return slug.includes(".") ? slug : "";
}

/**
 * Returns the fields of the form for a tool's arguments. Required fields are always shown, and so is each argument that was set once. While
 * the tool's definition is not loaded, or if there is no such tool, every argument counts as unknown.
 */
export function useArguments(toolSlug: string, value: unknown): ArgumentsForm {
  const { data } = useQuery({ ...toolQuery(toolSlug, useTransport()), enabled: toolSlug !== "" });
  const { fields } = readSchema(data?.tool?.inputSchemaJson ?? "");
  const values = valuesOf(value);
  // Arguments that were set once keep their fields, so that a field does not vanish while the user empties it.
  const once = useRef(new Set<string>());
  for (const name of Object.keys(values)) once.current.add(name);
  const isShown = ({ name, isRequired }: FieldSpec) => isRequired || once.current.has(name);
  return {
    fields,
    shown: new Set(fields.filter(isShown).map(({ name }) => name)),
    unknown: Object.keys(values).filter((name) => !fields.some((field) => field.name === name)),
  };
}

/** Draws the form fields for the given arguments of a tool call. `pointer`: JSON Pointer of the arguments object in the program. */
export function ArgumentFields({
  builder,
  pointer,
  value,
  fields,
  scope,
}: {
  builder: Builder;
  pointer: string;
  value: unknown;
  fields: readonly FieldSpec[];
  scope: readonly ProgramName[];
}) {
  return fields.map((field) => (
    <ArgumentField
      key={field.name}
      builder={builder}
      pointer={pointerTo(pointer, field.name)}
      field={field}
      value={valuesOf(value)[field.name]}
      scope={scope}
    />
  ));
}

function ArgumentField({
  builder,
  pointer,
  field: { name, description, ...field },
  value,
  scope,
}: {
  builder: Builder;
  pointer: string;
  field: FieldSpec;
  value: unknown;
  scope: readonly ProgramName[];
}) {
  const fault = faultWithin(builder, pointer);
  const set = (to: unknown) => builder.document.set(pointer, to);
  const label = namedWords(name);
  if (formOf(value) === "plain" && holdsForms(value))
    return <JsonField document={builder.document} pointer={pointer} label={label} fault={fault} />;
  const own = faultOf(builder, pointer);
  return (
    <ValueField
      label={label}
      value={value}
      scope={scope}
      words={builder.words}
      type={typeOf(field.shape)}
      isRequired={field.isRequired}
      fault={fault}
      onChange={set}
      plain={
        <Field
          {...field}
          label={label}
          hint={description}
          pointer={pointer}
          value={value}
          faults={new Map(own === undefined ? [] : [[pointer, [own]]])}
          onChange={set}
        />
      }
    />
  );
}

function typeOf({ type }: FieldSpec["shape"]): string {
  return type === "text" || type === "date" ? "string" : type === "number" || type === "boolean" ? type : "";
}
