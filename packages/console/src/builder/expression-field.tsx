import { type KeyboardEvent, useId, useRef, useState } from "react";
import { classNames } from "../ui/class-names.ts";
import fields from "../ui/fields/field.module.css";
import { inputClass, LabelledField } from "../ui/fields/field.tsx";
import { type Completions, completionsAt, type Nameable } from "./complete.ts";
import styles from "./expression-field.module.css";

const none: Completions & { readonly place: number } = { typed: 0, options: [], place: 0 };

/**
 * A field for an expression. While the user types, it lists names, functions and operators that fit. Ctrl Space lists all. The arrow keys
 * choose, Enter and Tab take the chosen one, and Escape closes the list.
 */
export function ExpressionField({
  label,
  value,
  fault,
  isRequired = false,
  known,
  onChange,
}: {
  label: string;
  value: string;
  fault: string | undefined;
  isRequired?: boolean;
  known: Nameable;
  onChange: (value: string) => void;
}) {
  const listId = useId();
  const input = useRef<HTMLInputElement>(null);
  // `place`: where the cursor was when the completions were found. The user may move it while the list is open.
  const [{ typed, options, place }, setFound] = useState(none);
  const [chosen, setChosen] = useState(0);
  const isOpen = options.length > 0;
  const optionId = (index: number) => `${listId}-${index}`;
  const find = (text: string, at: number, isAsked: boolean) => {
    setFound({ ...completionsAt(text.slice(0, at), known, isAsked), place: at });
    setChosen(0);
  };
  const take = (index: number) => {
    const field = input.current;
    const text = options[index]?.text;
    if (field === null || text === undefined) return;
    const next = value.slice(0, place - typed) + text + value.slice(place);
    const cursor = place - typed + text.length;
    onChange(next);
    setFound(none);
    // The field gets its text when it is drawn again, so the cursor is set after that.
    requestAnimationFrame(() => field.setSelectionRange(cursor, cursor));
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const { key, ctrlKey, altKey, metaKey, shiftKey } = event;
    if (key === " " && ctrlKey) find(value, event.currentTarget.selectionStart ?? value.length, true);
    else if (!isOpen || ctrlKey || altKey || metaKey || (key === "Tab" && shiftKey)) return;
    else if (key === "ArrowDown") setChosen((chosen + 1) % options.length);
    else if (key === "ArrowUp") setChosen((chosen + options.length - 1) % options.length);
    else if (key === "Enter" || key === "Tab") take(chosen);
    else if (key === "Escape") setFound(none);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <LabelledField {...{ label, fault, isRequired }}>
      {(shared) => (
        <div className={styles["frame"]}>
          <input
            {...shared}
            ref={input}
            role="combobox"
            aria-autocomplete="list"
            aria-expanded={isOpen}
            aria-controls={listId}
            aria-activedescendant={isOpen ? optionId(chosen) : undefined}
            className={classNames(inputClass, fields["mono"], styles["input"])}
            value={value}
            autoComplete="off"
            spellCheck={false}
            onChange={({ target }) => {
              onChange(target.value);
              find(target.value, target.selectionStart ?? target.value.length, false);
            }}
            onKeyDown={onKeyDown}
            onBlur={() => setFound(none)}
          />
          <div
            id={listId}
            role="listbox"
            tabIndex={-1}
            aria-label={`Completions of ${label}`}
            hidden={!isOpen}
            className={styles["list"]}
          >
            {options.map(({ label: words, detail, says }, index) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and the keys
              <div
                key={`${words} ${detail}`}
                id={optionId(index)}
                role="option"
                tabIndex={-1}
                aria-selected={index === chosen}
                ref={index === chosen ? (item) => item?.scrollIntoView({ block: "nearest" }) : undefined}
                className={styles["option"]}
                // The field keeps the focus.
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => take(index)}
              >
                <code>{words}</code> <span className={styles["detail"]}>{detail}</span>
                {says !== "" && <span className={styles["says"]}> {says}</span>}
              </div>
            ))}
          </div>
        </div>
      )}
    </LabelledField>
  );
}
