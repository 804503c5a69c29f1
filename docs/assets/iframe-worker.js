/* Browsers refuse workers to pages that were opened from disk. There, a hidden frame does a worker's work. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.appendChild(frame)
      this.inside = frame.contentWindow
      this.ready = new Promise((loaded, failed) => {
        const script = this.inside.document.createElement("script")
        script.src = url
        script.onload = loaded
        script.onerror = failed
        this.inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
        this.inside.document.body.appendChild(script)
      })
    }

    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })))
    }
  }
}
