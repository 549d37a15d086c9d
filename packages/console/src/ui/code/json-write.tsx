import { type Ref, useEffect, useImperativeHandle, useRef } from "react";
import styles from "./json-write.module.css";
import { createJsonWriter, type JsonWriter, type Mark } from "./json-writer.ts";

/** What can be done with an editor from beside it. */
export type JsonWriteHandle = Pick<JsonWriter, "goTo">;

/** An editor for JSON, a chunk of its own. It begins with `initial` and keeps its text itself; `marks` stand at their places in it. */
export default function JsonWrite({
  initial,
  label,
  marks,
  onChange,
  handle,
}: {
  initial: string;
  label: string;
  marks: readonly Mark[];
  onChange: (text: string) => void;
  handle: Ref<JsonWriteHandle>;
}) {
  const host = useRef<HTMLDivElement>(null);
  const writer = useRef<JsonWriter>(undefined);
  const changed = useRef(onChange);
  changed.current = onChange;
  useEffect(() => {
    if (host.current === null) return undefined;
    const made = createJsonWriter(host.current, initial, label, (text) => changed.current(text));
    writer.current = made;
    return () => made.destroy();
  }, [initial, label]);
  useEffect(() => writer.current?.mark(marks), [marks]);
  useImperativeHandle(handle, () => ({ goTo: (offset) => writer.current?.goTo(offset) }), []);
  return <div ref={host} className={styles["host"]} />;
}
