import { type DragEvent, type ReactNode, useRef, useState } from "react";
import { Button } from "../buttons/button.tsx";
import { classNames } from "../class-names.ts";
import { Line } from "../layout/stack.tsx";
import { droppedFiles, type NamedFile } from "./dropped-files.ts";
import styles from "./file-drop.module.css";

/** An area for files. The user drops files or folders on it, or chooses them with its two buttons, which keyboard users need. */
export function FileDrop({
  accept,
  takesFolders = true,
  isBelow = false,
  onFiles,
  children,
}: {
  /** File name endings that the user may choose (for example `.json`). */
  accept: string;
  /** False if only a file can be chosen, not a folder. */
  takesFolders?: boolean;
  /** True if the buttons are below the content. */
  isBelow?: boolean;
  onFiles: (files: readonly NamedFile[]) => void;
  children: ReactNode;
}) {
  const [isOver, setOver] = useState(false);
  const drop = async (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    onFiles(await droppedFiles(event.dataTransfer));
  };
  const over = (event: DragEvent) => {
    // Ignores text that the user drags, because such text is meant for the editor inside the area.
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    setOver(true);
  };
  const buttons = (
    <Line>
      {takesFolders && <Chooser words="Choose a folder" isFolder onFiles={onFiles} />}
      <Chooser words="Choose a file" accept={accept} onFiles={onFiles} />
      <span className={styles["hint"]}>{takesFolders ? "or drop either here" : "or drop it here"}</span>
    </Line>
  );
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: without a pointer, users choose files with the buttons
    <div
      className={classNames(styles["drop"], isOver && styles["over"])}
      onDragOverCapture={over}
      onDragLeave={() => setOver(false)}
      onDropCapture={(event) => {
        if (event.dataTransfer.types.includes("Files")) void drop(event);
      }}
    >
      {!isBelow && buttons}
      {children}
      {isBelow && buttons}
    </div>
  );
}

function Chooser({
  words,
  accept,
  isFolder = false,
  onFiles,
}: {
  words: string;
  accept?: string;
  isFolder?: boolean;
  onFiles: (files: readonly NamedFile[]) => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button onPress={() => input.current?.click()}>{words}</Button>
      <input
        ref={input}
        type="file"
        hidden
        aria-label={words}
        accept={accept}
        {...(isFolder && { webkitdirectory: "" })}
        onChange={({ currentTarget }) => {
          const files = [...(currentTarget.files ?? [])];
          onFiles(files.map((file) => ({ path: file.webkitRelativePath || file.name, file })));
          // Empties the input. Otherwise the browser reports no change if the user corrects a file and chooses the same file again.
          currentTarget.value = "";
        }}
      />
    </>
  );
}
