import { useState } from "react";
import { JsonField } from "../../builder/json-field.tsx";
import { pointerTo } from "../../form/faults.ts";
import { numberOf } from "../../form/value.ts";
import { isObject } from "../../json/value.ts";
import { TextField } from "../../ui/fields/field.tsx";
import { FieldItem } from "../../ui/fields/field-group.tsx";
import { Icon } from "../../ui/icon.tsx";
import { startedBy } from "./definition.ts";
import { type DefinitionForm, faultAt, textInput, valueAt } from "./definition-form.ts";
import styles from "./extras.module.css";

/** An optional value of a schedule. `add`: words of the button that adds it. */
type Extra = {
  readonly pointer: string;
  readonly add: string;
  readonly label: string;
  readonly hint: string;
  readonly placeholder?: string;
  readonly kind: "text" | "number" | "code" | "json";
  /** True if only schedules that start at times have the value. */
  readonly isOfTimes?: true;
};

const extras: readonly Extra[] = [
  {
    ...{ pointer: "/source/schedule/jitter", add: "Spread over a time", label: "Spread over", placeholder: "2m" },
    ...{ kind: "text", isOfTimes: true, hint: "Each run starts at a moment within this time." },
  },
  {
    ...{
      pointer: "/pauseAfter",
      add: "Pause after failures",
      label: "Pause after failures in a row",
      placeholder: "10",
    },
    ...{ kind: "number", hint: "Default: 10. 0: never." },
  },
  {
    ...{ pointer: "/budget/runs", add: "At most N runs a day", label: "Runs per day", kind: "number" },
    hint: "Extra runs wait for the next day.",
  },
  {
    ...{ pointer: "/budget/toolCalls", add: "At most N calls a day", label: "Tool calls per day", kind: "number" },
    hint: "Extra runs wait for the next day.",
  },
  {
    ...{ pointer: "/budget/writes", add: "At most N writes a day", label: "Writes per day", kind: "number" },
    hint: "Extra runs wait for the next day.",
  },
  {
    ...{ pointer: "/rate", add: "At most N runs in a time", label: "Rate", kind: "json" },
    hint: 'Such as {"max": 10, "per": "1m"}. Extra runs wait.',
  },
  {
    ...{ pointer: "/overlap/max", add: "Several at once", label: "Concurrent runs", kind: "number" },
    hint: "1 to 100. Default: 1, or 100 if both run.",
  },
  {
    ...{ pointer: "/when", add: "Only when…", label: "Only when", kind: "code", placeholder: "has(event.payload.id)" },
    hint: "A condition in CEL over fire, event, row and params.",
  },
  {
    ...{ pointer: "/input", add: "Input of each run", label: "Input of each run", kind: "json" },
    hint: 'For a program that has an inputSchema, such as {"day": {"$ref": "fire.localDate"}}.',
  },
  {
    ...{ pointer: "/source/schedule/startAt", add: "From a date", label: "From", kind: "text", isOfTimes: true },
    ...{ placeholder: "2027-01-01T00:00:00Z", hint: "The first run is at this time or later." },
  },
  {
    ...{ pointer: "/source/schedule/endAt", add: "Until a date", label: "Until", kind: "text", isOfTimes: true },
    ...{ placeholder: "2027-12-31T00:00:00Z", hint: "The last run is before this time." },
  },
];

/** Values that other parts of the page show, or that every definition has. */
const shownElsewhere: ReadonlySet<string> = new Set([
  ...["/version", "/title", "/timeZone", "/program", "/overlap/policy", "/$schema"],
  ...["cron", "every", "at"].map((name) => `/source/schedule/${name}`),
  ...["slug", "entity"].map((name) => `/source/trigger/${name}`),
  ...["call", "entity", "every", "args", "first", "per"].map((name) => `/source/poll/${name}`),
]);

/** Objects of the definition whose members have fields of their own. */
const opened: ReadonlySet<string> = new Set([
  ...["/source", "/source/schedule", "/source/trigger", "/source/poll", "/overlap", "/budget"],
]);

/** Draws the optional values of a schedule: those that it has as fields, the others as buttons that add them. */
export function Extras({ form }: { form: DefinitionForm }) {
  const [added, setAdded] = useState<readonly string[]>([]);
  const isOfTimes = !["trigger", "poll"].includes(startedBy(form.document.root));
  const offered = extras.filter((extra) => isOfTimes || extra.isOfTimes !== true);
  const isShown = ({ pointer }: Extra) =>
    valueAt(form, pointer) !== undefined || added.includes(pointer) || faultAt(form, pointer) !== undefined;
  const known = new Set([...shownElsewhere, ...extras.map(({ pointer }) => pointer)]);
  const remove = (pointer: string) => {
    setAdded((old) => old.filter((one) => one !== pointer));
    form.document.set(pointer, undefined);
  };
  return (
    <>
      <div className={styles["also"]}>
        <span className={styles["word"]}>Also</span>
        {offered
          .filter((extra) => !isShown(extra))
          .map(({ pointer, add }) => (
            <button
              key={pointer}
              type="button"
              className={styles["add"]}
              onClick={() => setAdded((old) => [...old, pointer])}
            >
              <Icon name="plus" size={12} />
              {add}
            </button>
          ))}
      </div>
      <div className={styles["fields"]}>
        {offered.filter(isShown).map((extra) => (
          <FieldItem key={extra.pointer} label={extra.label} onRemove={() => remove(extra.pointer)}>
            <ExtraField extra={extra} form={form} />
          </FieldItem>
        ))}
        {unknownPointers(form.document.root, "", known).map((pointer) => (
          <FieldItem key={pointer} label={wordsOf(pointer)} onRemove={() => remove(pointer)}>
            <JsonField
              document={form.document}
              pointer={pointer}
              label={wordsOf(pointer)}
              fault={faultAt(form, pointer)}
            />
          </FieldItem>
        ))}
      </div>
    </>
  );
}

function ExtraField({
  extra: { pointer, label, hint, placeholder, kind },
  form,
}: {
  extra: Extra;
  form: DefinitionForm;
}) {
  if (kind === "json")
    return (
      <JsonField document={form.document} pointer={pointer} label={label} hint={hint} fault={faultAt(form, pointer)} />
    );
  const isNumber = kind === "number";
  const read = isNumber ? numberOf : undefined;
  return (
    <TextField
      {...textInput(form, pointer, label, read)}
      {...(isNumber ? { inputMode: "numeric" as const } : {})}
      mono={kind === "code"}
      placeholder={placeholder}
      hint={hint}
    />
  );
}

/** Returns the pointers of the values of a definition that no field knows. */
function unknownPointers(value: unknown, pointer: string, known: ReadonlySet<string>): readonly string[] {
  if (!isObject(value)) return [];
  return Object.keys(value).flatMap((name) => {
    const inner = pointerTo(pointer, name);
    if (known.has(inner)) return [];
    return opened.has(inner) ? unknownPointers(value[name], inner, known) : [inner];
  });
}

/** Returns the name of a value of the definition, such as `schedule.catchUp`. */
function wordsOf(pointer: string): string {
  return pointer
    .slice(1)
    .replace(/^source\//, "")
    .replaceAll("/", ".");
}
