import { useQuery, useTransport } from "@connectrpc/connect-query";
import { JobsService } from "@svc/gen/jobs";
import { keepPreviousData, useQueries } from "@tanstack/react-query";
import { useEffect, useMemo, useRef } from "react";
import { useSettled } from "../clock.ts";
import { findPart, stepsOf } from "../json/locate.ts";
import { swapItems } from "../json/patch.ts";
import { fieldText, memberOf } from "../json/value.ts";
import { Disclosure } from "../ui/layout/disclosure.tsx";
import { announce } from "../ui/notice/announce.tsx";
import { Skeleton } from "../ui/notice/empty.tsx";
import { toolOf, toolQuery } from "./argument-fields.tsx";
import styles from "./builder.module.css";
import { type Builder, type BuilderFault, faultWithin } from "./builder.ts";
import type { Document } from "./document.ts";
import { JsonField } from "./json-field.tsx";
import { StepList } from "./step-list.tsx";
import { allNodes, readNodes, type StepNode } from "./step-tree.ts";

/** Time after the last change before the program is described again, in milliseconds. */
const restMs = 250;

/** Draws the steps of a program as cards. `base`: JSON Pointer of the program in the document. `faults`: the errors of the program. */
export default function ProgramCards({
  document,
  base,
  faults,
}: {
  document: Document;
  base: string;
  faults: readonly BuilderFault[];
}) {
  const { text, root } = document;
  const program = memberOf(root, ...stepsOf(base));
  const part = findPart(text, base);
  const programJson = useSettled(part === undefined ? "" : text.slice(part.value, part.to), restMs);
  const { data, isPending } = useQuery(
    JobsService.method.describeProgram,
    { programJson, withWords: true },
    { placeholderData: keepPreviousData, staleTime: 0, enabled: programJson !== "" },
  );
  const described = useMemo(() => new Map((data?.steps ?? []).map((step) => [step.stepId, step])), [data]);
  const list = `${base}/steps`;
  const nodes = readNodes(memberOf(program, "steps"), list);
  const all = allNodes(nodes);
  const frame = useRef<HTMLDivElement>(null);
  const moved = useRef<string>(undefined);
  // The browser drops the focus of an element that is moved, so it is set again.
  useEffect(() => {
    if (moved.current === undefined) return;
    frame.current?.querySelector<HTMLElement>(`[data-step="${CSS.escape(moved.current)}"] button`)?.focus();
    moved.current = undefined;
  });
  const isRead = useIsRead(all, part === undefined || !isPending);
  const builder: Builder = {
    ...{ document, base, program, faults, described, words: data?.words ?? [] },
    ids: new Set(all.map(({ id }) => id)),
    entity: all.map(({ step }) => fieldText(step["entity"])).find((entity) => entity !== "") ?? "ops",
    move: (of, index, by) => {
      const first = Math.min(index, index + by);
      if (swapItems(text, of, first) === text) return;
      moved.current = `${of}/${index + by}`;
      document.change("move", (old) => swapItems(old, of, first));
      announce(by < 0 ? "Moved up" : "Moved down");
    },
  };
  if (!isRead) return <Skeleton rows={8} />;
  return (
    <div ref={frame} className={styles["program"]}>
      <StepList builder={builder} nodes={nodes} list={list} />
      <ProgramSettings builder={builder} />
    </div>
  );
}

/** True as soon as the program and its tools were read once, so that the cards are first drawn whole. */
function useIsRead(nodes: readonly StepNode[], isDescribed: boolean): boolean {
  const transport = useTransport();
  const isRead = useRef(false);
  const slugs = new Set(nodes.map(toolOf).filter((slug) => slug !== ""));
  const tools = useQueries({ queries: Array.from(slugs, (slug) => toolQuery(slug, transport)) });
  isRead.current ||= isDescribed && tools.every(({ isPending }) => !isPending);
  return isRead.current;
}

/** Members of a program besides its steps, with the words of their fields. */
const settings: readonly (readonly [name: string, label: string])[] = [
  ["params", "Constants"],
  ["inputSchema", "Schema of the input"],
  ["input", "Input"],
  ["limits", "Limits"],
  ["approval", "Approval"],
  ["points", "Questions"],
  ["saga", "Undo"],
  ["result", "Result"],
];

/** Draws the members of the program besides its steps as JSON. It opens if one of them has an error. */
function ProgramSettings({ builder }: { builder: Builder }) {
  const { program, base, document } = builder;
  const set = settings.filter(([name]) => memberOf(program, name) !== undefined).map(([, label]) => label);
  const isAtFault = settings.some(([name]) => faultWithin(builder, `${base}/${name}`) !== undefined);
  return (
    <Disclosure
      initiallyOpen={isAtFault}
      summary={`Input, constants, limits and result${set.length === 0 ? "" : `: ${set.join(", ").toLowerCase()}`}`}
    >
      <div className={styles["settings"]}>
        {settings.map(([name, label]) => (
          <JsonField
            key={name}
            document={document}
            pointer={`${base}/${name}`}
            label={label}
            fault={faultWithin(builder, `${base}/${name}`)}
          />
        ))}
      </div>
    </Disclosure>
  );
}
