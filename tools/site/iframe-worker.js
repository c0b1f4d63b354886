// Browsers allow no Worker from file://. There a hidden frame loads the worker's script, so that the search works.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      this.scope = this.frame.contentWindow;
      window.addEventListener("message", (event) => {
        if (event.source !== this.scope) return;
        const message = new MessageEvent("message", { data: event.data });
        this.dispatchEvent(message);
        if (this.onmessage) this.onmessage(message);
      });
      this.ready = new Promise((resolve) => {
        const page = this.frame.contentDocument;
        this.scope.postMessage_ = this.scope.postMessage.bind(this.scope);
        page.open();
        page.write("<!doctype html><body></body>");
        page.close();
        // What the worker posts is for the page; what it imports are further scripts, in order.
        this.scope.postMessage = (data) => window.dispatchEvent(new MessageEvent("message", { data, source: this.scope }));
        this.scope.importScripts = (...urls) => urls.reduce((before, each) => before.then(() => this.load(each)), Promise.resolve());
        this.load(url).then(resolve);
      });
    }
    load(url) {
      return new Promise((resolve, reject) => {
        const script = this.frame.contentDocument.createElement("script");
        script.src = url;
        script.onload = resolve;
        script.onerror = reject;
        this.frame.contentDocument.body.append(script);
      });
    }
    postMessage(data) {
      this.ready.then(() => this.scope.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {
      this.frame.remove();
    }
  };
}
