import { useLayoutEffect, useRef } from "react";
import { createJsonViewer } from "./json-editor.ts";

/** The viewer itself, a chunk of its own: it is loaded when the first JSON is shown. */
export default function JsonViewer({ text, label }: { text: string; label: string }) {
  const host = useRef<HTMLDivElement>(null);
  // Before it is drawn: what stood in its place goes in the same moment, and nothing below it jumps.
  useLayoutEffect(() => {
    if (host.current === null) return undefined;
    const viewer = createJsonViewer(host.current, text, label);
    return () => viewer.destroy();
  }, [text, label]);
  return <div ref={host} />;
}
