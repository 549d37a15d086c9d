import type { DescribedStep } from "@svc/gen/jobs";
import { type ReactNode, useRef, useState } from "react";
import { pointerTo } from "../form/faults.ts";
import { numberOf } from "../form/value.ts";
import { removeValue } from "../json/patch.ts";
import { fieldText } from "../json/value.ts";
import { classNames } from "../ui/class-names.ts";
import { TextField } from "../ui/fields/field.tsx";
import { GroupFaults } from "../ui/fields/field-group.tsx";
import { SuggestField } from "../ui/fields/suggest-field.tsx";
import { StepTile } from "../ui/flow/step-tile.tsx";
import { Icon } from "../ui/icon.tsx";
import { Menu } from "../ui/overlay/menu.tsx";
import { ArgumentFields, type ArgumentsForm, toolOf, useArguments } from "./argument-fields.tsx";
import styles from "./builder.module.css";
import { type Builder, faultWithin } from "./builder.ts";
import { ExpressionField } from "./expression-field.tsx";
import { JsonField } from "./json-field.tsx";
import { renameStep } from "./rename-step.ts";
import { fieldsOfKind, type StepField, shownElsewhere } from "./step-fields.ts";
import type { StepNode } from "./step-tree.ts";
import { ValueField } from "./value-field.tsx";
import { formOf } from "./values.ts";

/** Draws one step of a program as a card: its name and kind, a field for each property, and the lists of steps inside it (`children`). */
export function StepCard({
  builder,
  node,
  list,
  index,
  isLast,
  children,
}: {
  builder: Builder;
  node: StepNode;
  /** JSON Pointer of the list that contains the step. */
  list: string;
  index: number;
  isLast: boolean;
  children: ReactNode;
}) {
  const [isOpen, setOpen] = useState(false);
  const { pointer, kind, step, id } = node;
  const described = builder.described.get(id);
  const given = kind === "run" ? "input" : "args";
  // Members that were set once keep their fields, so that a field does not vanish while the user empties it.
  const once = useRef(new Set<string>());
  for (const name of Object.keys(step)) once.current.add(name);
  const args = useArguments(toolOf(node), step[given]);
  const { main, more } = fieldsOfKind(kind);
  // The user is named once for the whole program, and details of a call are for those who look for them.
  const isDetail = ({ name }: StepField) =>
    (detailed.has(name) || (name === "entity" && step[name] === builder.entity)) &&
    faultWithin(builder, pointerTo(pointer, name)) === undefined;
  const isSet = (field: StepField) => once.current.has(field.name) && !isDetail(field);
  const hidden = more.filter((field) => !isSet(field)).length + args.fields.length - args.shown.size + 1;
  const known = new Set([...shownElsewhere(kind), ...[...main, ...more].map(({ name }) => name)]);
  const others = Object.keys(step).filter((name) => !known.has(name));
  const shared = { builder, node };
  const inArgs = { builder, pointer: pointerTo(pointer, given), value: step[given], scope: described?.scope ?? [] };
  return (
    <section
      className={styles["card"]}
      aria-label={`Step ${id}`}
      data-step={pointer}
      // The button of the menu opens it with the arrow keys, so the card gets the keys first.
      onKeyDownCapture={(event) => {
        const isOwn = event.target instanceof Element && event.target.closest("[data-step]") === event.currentTarget;
        if (!isOwn || !event.altKey || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return;
        event.preventDefault();
        event.stopPropagation();
        builder.move(list, index, event.key === "ArrowUp" ? -1 : 1);
      }}
    >
      <CardHead {...shared} described={described} list={list} index={index} isLast={isLast} />
      <GroupFaults faults={ownFaults(builder, node, args, [...main, ...more])} />
      <div className={styles["fields"]}>
        {main.map((field) => (
          <MemberField key={field.name} {...shared} field={field} described={described} />
        ))}
        <ArgumentFields {...inArgs} fields={args.fields.filter(({ name }) => isOpen || args.shown.has(name))} />
        {args.unknown.map((name) => (
          <UnknownField key={name} builder={builder} pointer={pointerTo(inArgs.pointer, name)} name={name} />
        ))}
        {more
          .filter((field) => isOpen || isSet(field))
          .map((field) => (
            <MemberField key={field.name} {...shared} field={field} described={described} isOptional />
          ))}
        {others.map((name) => (
          <UnknownField key={name} builder={builder} pointer={pointerTo(pointer, name)} name={name} />
        ))}
        {isOpen && <IdField {...shared} />}
        <button type="button" className={styles["more"]} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Fewer fields" : `${hidden} more ${hidden === 1 ? "field" : "fields"}`}
        </button>
      </div>
      {children}
    </section>
  );
}

/** Members of a call that are shown after a press, also if they are set. */
const detailed: ReadonlySet<string> = new Set(["rows", "retry", "timeout"]);

/** Returns the errors of a step that no field of its card shows, and that are not about a step inside it. */
function ownFaults(
  builder: Builder,
  node: StepNode,
  args: ArgumentsForm,
  fields: readonly StepField[],
): readonly string[] {
  const given = pointerTo(node.pointer, node.kind === "run" ? "input" : "args");
  const shown = [
    ...fields.map(({ name }) => pointerTo(node.pointer, name)),
    ...Array.from(args.shown, (name) => pointerTo(given, name)),
    ...args.unknown.map((name) => pointerTo(given, name)),
    ...node.blocks.flatMap(({ steps }) => steps.map(({ pointer }) => pointer)),
  ];
  const isIn = (pointer: string, around: string) => pointer === around || pointer.startsWith(`${around}/`);
  return builder.faults
    .filter(({ pointer }) => isIn(pointer, node.pointer) && !shown.some((one) => isIn(pointer, one)))
    .map(({ message }) => message);
}

const classWords: Readonly<Record<string, string>> = { write: "Write", destructive: "Delete" };

function CardHead({
  builder,
  node: { pointer, id, kind, step },
  described,
  list,
  index,
  isLast,
}: {
  builder: Builder;
  node: StepNode;
  described: DescribedStep | undefined;
  list: string;
  index: number;
  isLast: boolean;
}) {
  const { title = "", toolSlug = "", toolkitName = "", accessClass = "" } = described ?? {};
  const makesRows = Object.hasOwn(step, "rows") || rowKinds.has(kind);
  const effect = classWords[accessClass];
  return (
    <div className={styles["head"]}>
      <span className={styles["number"]}>{index + 1}</span>
      <StepTile kind={kind} tool={toolSlug} />
      <h3 className={styles["id"]}>{id || "Unnamed step"}</h3>
      <span className={styles["title"]}>{[title || kind, toolkitName].filter(Boolean).join(", ")}</span>
      {makesRows && (
        <span className={styles["gives"]}>
          gives rows <b>{id}</b>
        </span>
      )}
      {effect !== undefined && (
        <span className={classNames(styles["effect"], accessClass === "destructive" && styles["deletes"])}>
          {effect}
        </span>
      )}
      <Menu
        label={`Actions of step ${id}`}
        entries={[
          ...(index === 0
            ? []
            : [{ id: "up", words: "Move up", note: "Alt ↑", onPress: () => builder.move(list, index, -1) }]),
          ...(isLast
            ? []
            : [{ id: "down", words: "Move down", note: "Alt ↓", onPress: () => builder.move(list, index, 1) }]),
          {
            id: "remove",
            words: "Remove",
            icon: "cross" as const,
            onPress: () => builder.document.change("remove", (text) => removeValue(text, pointer)),
          },
        ]}
      >
        <Icon name="more" />
      </Menu>
    </div>
  );
}

const rowKinds: ReadonlySet<string> = new Set([
  ...["filter", "sort", "limit", "distinct", "join", "group", "compute", "flatten", "take", "map"],
]);

/** Draws a member of a step in the field of its kind. */
function MemberField({
  builder,
  node,
  field: { name, label, kind },
  described,
  isOptional = false,
}: {
  builder: Builder;
  node: StepNode;
  field: StepField;
  described: DescribedStep | undefined;
  isOptional?: boolean;
}) {
  const { document } = builder;
  const pointer = pointerTo(node.pointer, name);
  const value = node.step[name];
  const fault = faultWithin(builder, pointer);
  const scope = described?.scope ?? [];
  const set = (to: unknown) => document.set(pointer, to);
  const input = {
    ...{ label, fault, value: fieldText(value) },
    // An empty text removes an optional member. A required one stays, so that its error is at its field.
    onChange: (text: string) => set(text === "" && isOptional ? undefined : kind === "number" ? numberOf(text) : text),
  };
  const isPlain = kind !== "value" || formOf(value) === "plain";
  if (kind === "json" || (typeof value === "object" && isPlain))
    return <JsonField document={document} pointer={pointer} label={label} fault={fault} isRequired={!isOptional} />;
  if (kind === "set") {
    const sets = scope.flatMap(({ name: one }) => (one.startsWith("rows.") ? [one.slice("rows.".length)] : []));
    return <SuggestField {...input} suggestions={sets} />;
  }
  if (kind === "value")
    return (
      <ValueField
        {...input}
        value={value}
        scope={scope}
        type=""
        onChange={(to) => set(to === undefined && !isOptional ? "" : to)}
        plain={<TextField {...input} autoComplete="off" />}
        words={builder.words}
      />
    );
  if (kind === "cel") return <ExpressionField {...input} known={{ names: scope, words: builder.words }} />;
  return <TextField {...input} autoComplete="off" {...(kind === "number" ? { inputMode: "numeric" as const } : {})} />;
}

function UnknownField({ builder, pointer, name }: { builder: Builder; pointer: string; name: string }) {
  return <JsonField document={builder.document} pointer={pointer} label={name} fault={faultWithin(builder, pointer)} />;
}

/** Draws the id of a step. When the user leaves the field, everything that refers to the step is renamed too. */
function IdField({ builder, node }: { builder: Builder; node: StepNode }) {
  const [typed, setTyped] = useState(node.id);
  const { document, program, base } = builder;
  const isTaken = typed !== node.id && builder.ids.has(typed);
  const rename = () => {
    if (typed === node.id || typed === "" || isTaken) return;
    document.change("rename", (text) => renameStep(text, { root: program, base }, node, typed));
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the div only gets events of its field
    <div onBlur={rename} onKeyDown={(event) => event.key === "Enter" && rename()}>
      <TextField
        label="Id"
        mono
        autoComplete="off"
        value={typed}
        fault={isTaken ? "Another step has this id." : undefined}
        onChange={setTyped}
      />
    </div>
  );
}
