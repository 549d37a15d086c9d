/** Adds a copy button to every block of code. */
export function addCopyButtons(): void {
  for (const block of document.querySelectorAll(".code")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", () => void copy(button, block.querySelector("code")?.textContent ?? ""));
    block.append(button);
  }
}

/**
 * Copies a text to the clipboard. Browsers offer the clipboard only over https and on localhost; otherwise this function selects the text.
 */
async function copy(button: HTMLButtonElement, text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    const code = button.parentElement?.querySelector("code");
    if (code) getSelection()?.selectAllChildren(code);
    button.textContent = "Selected";
  }
  setTimeout(() => {
    button.textContent = "Copy";
  }, 1_500);
}
