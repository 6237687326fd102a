"""Reports that are no text: .docx, .odt, .epub, .html and .pdf become the one Markdown that all reports are read as."""
