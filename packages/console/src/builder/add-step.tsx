import { useQuery } from "@connectrpc/connect-query";
import { ToolsService } from "@svc/gen/tools";
import { keepPreviousData } from "@tanstack/react-query";
import { useState } from "react";
import { useSettled } from "../clock.ts";
import { insertItem, jsonText } from "../json/patch.ts";
import { Button } from "../ui/buttons/button.tsx";
import { TextField } from "../ui/fields/field.tsx";
import { StepTile } from "../ui/flow/step-tile.tsx";
import { Dialog } from "../ui/overlay/dialog.tsx";
import styles from "./builder.module.css";
import type { Builder } from "./builder.ts";
import { addedSteps, freeId } from "./step-fields.ts";
import { namedWords } from "./values.ts";

const searchMs = 200;

/** Draws the button that adds a step at the end of a list, and the dialog in which the user finds a tool or a kind of step. */
export function AddStep({ builder, list, count }: { builder: Builder; list: string; count: number }) {
  const [isOpen, setOpen] = useState(false);
  const add = (base: string, step: Readonly<Record<string, unknown>>) => {
    const text = jsonText({ id: freeId(base, builder.ids), ...step });
    builder.document.change("add", (old) => insertItem(old, list, count, text));
    setOpen(false);
  };
  return (
    <div className={styles["add"]}>
      <Button icon="plus" onPress={() => setOpen(true)}>
        Add step
      </Button>
      <span className={styles["small"]}>tool, filter, for each, wait, ask a person, run in parallel</span>
      <Dialog open={isOpen} onClose={() => setOpen(false)} title="Add a step" wide>
        <Choices builder={builder} onChoose={add} />
      </Dialog>
    </div>
  );
}

function Choices({
  builder,
  onChoose,
}: {
  builder: Builder;
  onChoose: (base: string, step: Readonly<Record<string, unknown>>) => void;
}) {
  const [typed, setTyped] = useState("");
  const query = useSettled(typed.trim(), searchMs);
  const found = useQuery(
    ToolsService.method.searchTools,
    { query, limit: 12 },
    { enabled: query !== "", placeholderData: keepPreviousData },
  );
  const tools = query === "" ? [] : (found.data?.results.flatMap(({ tool }) => tool ?? []) ?? []);
  const lastSet = [...builder.described.values()]
    .flatMap(({ scope }) => scope)
    .findLast(({ name }) => name.startsWith("rows."))
    ?.name.slice("rows.".length);
  const kinds = addedSteps.filter(({ words, says }) =>
    `${words} ${says}`.toLowerCase().includes(typed.trim().toLowerCase()),
  );
  return (
    <>
      <TextField
        label="Tool or kind of step"
        placeholder="send a message"
        autoComplete="off"
        value={typed}
        onChange={setTyped}
      />
      <ul className={styles["choices"]}>
        {tools.map(({ slug, description }) => (
          <Choice
            key={slug}
            kind="call"
            words={namedWords(slug.split(".").at(-1) ?? slug)}
            says={`${slug} · ${description}`}
            onPress={() =>
              onChoose(slug.split(".").at(-1)?.split("_").at(-1) ?? "call", {
                call: slug,
                entity: builder.entity,
                args: {},
              })
            }
          />
        ))}
        {kinds.map(({ kind, words, says, make }) => (
          <Choice
            key={kind}
            kind={kind}
            words={words}
            says={says}
            onPress={() => onChoose(kind, make(lastSet ?? ""))}
          />
        ))}
      </ul>
      {tools.length + kinds.length === 0 && <p>{found.isFetching ? "Searching" : "Nothing matches."}</p>}
    </>
  );
}

function Choice({ kind, words, says, onPress }: { kind: string; words: string; says: string; onPress: () => void }) {
  return (
    <li>
      <button type="button" className={styles["choice"]} onClick={onPress}>
        <StepTile kind={kind} />
        <b>{words}</b>
        <span className={styles["title"]}>{says}</span>
      </button>
    </li>
  );
}
