# attack: 47
# tries: print markup and terminal codes for whoever reads the report
# kind: text
# always: the judge cleans text; pages escape it
# residual: any readable text can be shown
print("<script>alert(1)</script>\x1b[2J\x1b]0;title\x07\x00")
raise ValueError("\x1b[31m<b>")
